"""How a signal ends a run: at the end of the iteration, or where the run hangs, or at once.

After the first Ctrl-C, SIGTERM or SIGHUP the iteration is finished, so that the checkpoint
continues bit for bit. If environments make no progress meanwhile, or a second signal comes, the run
is interrupted where it is: `Interrupted` is raised there, and passes through all code that saves
and closes. If code catches even that, the process ends.

One signal that comes while the run is saved does not interrupt that, because it would cost the
files that the earlier one asked for; the next one does.
"""

from __future__ import annotations

import _thread
import contextlib
import faulthandler
import os
import signal
import sys
import threading
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from rlk_cli.columns import columns, terminal_width

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Exit codes of a run that a signal stopped: 128 plus the signal's number, as in shells.
CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
#: If no environment takes a step for so many seconds after a signal, they hang.
HANGS_SECONDS = 1.5
#: Seconds that environments may take to close after a signal; workers that hang are killed earlier.
CLOSE_SECONDS = 2.5
#: Code that does not react to an interruption for so many seconds never will.
DEAF_SECONDS = 1.5
#: The lifecycle hooks after which environments are stepped. After others, a run updates parameters,
#: writes files or waits for other ranks.
STEPPING = (
    "rlk_rollout_start",
    "rlk_update_end",
    "rlk_prepare_evaluation",
    "rlk_evaluation_end",
)
#: The lifecycle hook in which the last files are written.
SAVING = "rlk_training_end"
CLOSING = "closing"


class Interrupted(KeyboardInterrupt):
    """Raised where a signal has interrupted a run; its notes say which code was interrupted.

    Args:
        name: of the signal.
        frame: the frame that the signal interrupted.
    """

    def __init__(self, name: str, frame: FrameType | None) -> None:
        super().__init__(name)
        self.name, self.exit_code = name, CODES[name]
        self._place = "" if frame is None else _place(frame)

    def __str__(self) -> str:
        """The interrupted code and its place; a note on another process has its own place."""
        what = "; ".join(getattr(self, "__notes__", ())) or "the run was interrupted"
        return what if what.endswith(")") else f"{what}{self._place}"


class Signals:
    r"""Ends a run by signals while it is entered; afterwards the previous handlers are restored.

    A signal that was ignored (`nohup` ignores SIGHUP) stays ignored. SIGQUIT (Ctrl-\) prints the
    stack of every thread and ends the process at once; nothing is saved.
    """

    def __init__(self, run: Run) -> None:
        self.received: str | None = None  #: the name of the first signal
        self.gave_up_saving = False  #: whether a signal interrupted the writing of the last files
        self._run = run
        self._over = threading.Event()
        self._is_closing = False
        self._was_spared = False
        self._main = threading.main_thread().ident
        self._before: dict[Any, Any] = {}

    def __enter__(self) -> Signals:
        for name in CODES:
            number = getattr(signal, name, None)  # SIGHUP exists only on POSIX
            if number is None or (name == "SIGHUP" and _is_ignored(number)):
                continue
            self._before[number] = signal.signal(number, self._received)
        with contextlib.suppress(AttributeError, OSError, ValueError):  # no such signal, no stderr
            faulthandler.register(signal.SIGQUIT, chain=True)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        with contextlib.suppress(AttributeError):
            faulthandler.unregister(signal.SIGQUIT)

    def closing(self) -> None:
        """Training has ended: from now on environments are closed, which may hang as well."""
        self._is_closing = True

    def _received(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number).name
        is_first, is_saving = self.received is None, self._state()[0] == SAVING
        if not is_first and (self._was_spared or not is_saving):
            self.gave_up_saving = is_saving
            raise Interrupted(name, frame)
        self._was_spared = is_saving
        if is_first:
            self.received = name
            self._run.stop(name, hurry=True)
            threading.Thread(target=self._watch, args=(number,), daemon=True).start()
        if is_saving:
            self._say(f"{name}: the run is being saved; another signal gives that up")
        else:
            self._say(f"{name}: the run ends after this iteration; a second signal ends it at once")

    def _say(self, text: str) -> None:
        """Print a sentence, but not with `print`: the signal may have interrupted one."""
        if self._run.plan.verbose:
            _print(columns("", 0, text, terminal_width()))

    def _watch(self, number: int) -> None:
        """Repeat the signal if environments hang, and end the process if that has no effect."""
        state, since, repeated = self._state(), time.monotonic(), False
        while not self._over.wait(0.05):
            before, state = state, self._state()
            if state != before:
                since, repeated = time.monotonic(), False
            elif time.monotonic() - since > (DEAF_SECONDS if repeated else _patience(state[0])):
                if repeated:
                    self._end_process()
                since, repeated = time.monotonic(), True
                self._repeat(number)

    def _repeat(self, number: int) -> None:
        """Send the signal again, to the thread that trains."""
        assert self._main is not None
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(self._main, number)  # also interrupts a sleep or a read
        else:
            _thread.interrupt_main(signal.Signals(number))

    def _state(self) -> tuple[str, int]:
        """What the run is doing, and how far it is."""
        return CLOSING if self._is_closing else self._run.activity, self._run.timesteps

    def _end_process(self) -> None:
        """End the process in spite of code that hangs; files that were written before are kept."""
        assert self.received is not None and self._main is not None
        stack = traceback.extract_stack(sys._current_frames()[self._main])
        at = "".join(traceback.format_list(stack[-3:]))
        _print(f"{self.received}: the process is ended, because this code does not return:\n{at}")
        os._exit(CODES[self.received])


def _patience(doing: str) -> float:
    """How many seconds the run may do this without a step, after it was told to end."""
    if doing == CLOSING:
        return CLOSE_SECONDS
    return HANGS_SECONDS if doing in STEPPING else float("inf")


def _print(text: str) -> None:
    """Print at once, without `print`, in the middle of which the signal may have come."""
    with contextlib.suppress(OSError):  # the terminal is gone
        os.write(2, f"\n{text}\n".encode())


def _is_ignored(number: int) -> bool:
    return signal.getsignal(number) == signal.SIG_IGN


def _place(frame: FrameType) -> str:
    code = frame.f_code
    return f" ({Path(code.co_filename).name} line {frame.f_lineno}, in {code.co_name})"
