"""How the processes of a search end: if what has started them is gone, and what is said of them."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from typing import Any

from rlk.errors import RlkError
from rlk_cli.signals import CODES

#: How long a process has to end its trial before it is killed.
END_SECONDS = 10.0
#: How often a process looks whether those that have started it are still there.
LOOK_SECONDS = 0.5
#: The exit code of a process that SIGKILL has ended, and that of one whose server is gone.
KILLED, UNKNOWN = -9, 255


def end_with_starters() -> None:
    """End this process if the one of the search, or the server, is gone, for example killed."""
    parent, server = multiprocessing.parent_process(), os.getppid()
    assert parent is not None
    while parent.is_alive() and os.getppid() == server:
        parent.join(LOOK_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(END_SECONDS)
    os._exit(1)  # code that catches even an interruption


def failure(failures: Any, job: int, pid: int, exit_code: int) -> RlkError:
    """The error with which the process of a job ended, or its server."""
    if not failures.empty():
        text, code = failures.get()
        error = RlkError(text)
        error.exit_code = code
        return error
    server = server_failure() if exit_code == UNKNOWN else None
    return server or RlkError(f"the process of job {job + 1} (pid {pid}) {_ended(exit_code)}")


def server_failure() -> RlkError | None:
    """The error with which the server ended; None if it has not, or if there is none."""
    if sys.platform != "linux":
        return None
    from multiprocessing import forkserver  # not at the top: it is POSIX's

    # Only the module itself knows its server, of which it never tells the exit code.
    pid: int | None = getattr(forkserver._forkserver, "_forkserver_pid", None)
    if pid is None:
        return None
    for _ in range(100):  # a process closes its files a moment before it has ended
        found = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is not None:
            code = found.si_status if found.si_code == os.CLD_EXITED else -found.si_status
            return RlkError(f"the server of all jobs' processes (pid {pid}) {_ended(code)}")
        time.sleep(0.01)
    return None


def _ended(exit_code: int) -> str:
    """How something with this exit code ended, and what becomes of the trials."""
    number = -exit_code if exit_code < 0 else exit_code - 128
    if exit_code < 0 or exit_code in CODES.values():
        how = f"signal {number} ({signal.strsignal(number)})"
    else:
        how = f"an error, which is printed above (exit code {exit_code})"
    return f"ended by {how}. The trials that had ended are kept, and the search can be continued."
