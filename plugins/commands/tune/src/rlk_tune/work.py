"""Runs the trials of a search, in this process or in several that share its storage."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterable
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import click
import optuna

from rlk.errors import RlkError
from rlk_tune import report, results
from rlk_tune.search import Search, read
from rlk_tune.signals import INTERRUPTIONS, kept_from_processes
from rlk_tune.study import counted, open_study
from rlk_tune.trial import run_trial

#: How processes start. On Linux, a server imports torch once and forks them; elsewhere, libraries
#: that are loaded before a fork may fail after it.
START = "forkserver" if sys.platform == "linux" else "spawn"
#: How long a process has to end its trial before it is killed.
END_SECONDS = 10.0


def work(folder: Path, search: Search, study: optuna.Study, jobs: int, *, quiet: bool) -> None:
    """Run the remaining trials of a search.

    Raises:
        KeyboardInterrupt: for a signal, after everything that was started has ended.
        RlkError: for an error that the drawn settings did not cause.
    """
    left = search.trials - len(counted(study))
    with INTERRUPTIONS.enabled():
        if jobs == 1 or left < 2:
            for _ in range(left):
                _run_and_report(folder, search, study, job=0, quiet=quiet)
        else:
            _in_processes(folder, min(jobs, left), left, quiet=quiet)


def _run_and_report(
    folder: Path, search: Search, study: optuna.Study, *, job: int, quiet: bool
) -> None:
    """Run a trial, and update the files."""
    trial = run_trial(search, study, job)
    gc.collect()  # an agent has reference cycles: the replays of several would stay in memory
    results.write(folder, search, study, trial)
    if not quiet:
        click.echo(report.line(trial, search, study))


# ---- several processes ---------------------------------------------------------------------------


def _in_processes(folder: Path, jobs: int, left: int, *, quiet: bool) -> None:
    """Run the trials in this many processes; the first that fails ends the others."""
    context: Any = multiprocessing.get_context(START)
    if START == "forkserver":
        context.set_forkserver_preload(["rlk_tune.work", "rlk.making"])
    tickets, failures = context.Semaphore(left), context.SimpleQueue()
    arguments = [(folder, job, tickets, failures, quiet) for job in range(jobs)]
    processes = [context.Process(target=_job, args=each) for each in arguments]
    try:
        # This process tells them to end; a signal that comes meanwhile has its effect afterwards.
        with INTERRUPTIONS.held(), kept_from_processes(signal.SIGINT):
            for process in processes:
                process.start()
        _await(processes, failures)
    finally:
        _end(processes)


def _await(processes: list[Any], failures: Any) -> None:
    """Wait until all processes have ended, or raise the error of the first that fails.

    A sentinel may be ready a moment before the exit code is known, so each code is read once: one
    that came between two readings would be missed.
    """
    running = processes
    while running:
        wait([process.sentinel for process in running])
        codes = [process.exitcode for process in running]
        for code in filter(None, codes):
            raise _failure(failures, code)
        running = [one for one, code in zip(running, codes, strict=True) if code is None]


def _job(folder: Path, job: int, tickets: Any, failures: Any, quiet: bool) -> None:
    """The work of one of the processes."""
    try:
        with INTERRUPTIONS.enabled():
            threading.Thread(target=_end_with_parent, daemon=True).start()
            search = read(folder)
            study = open_study(folder, search)
            while tickets.acquire(block=False):
                _run_and_report(folder, search, study, job=job, quiet=quiet)
    except KeyboardInterrupt:
        pass
    except RlkError as error:
        failures.put((str(error), error.exit_code))
        sys.exit(error.exit_code)


def _end_with_parent() -> None:
    """End this process if the one that has started it is gone, for example killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(END_SECONDS)
    os._exit(1)  # code that catches even an interruption


def _failure(failures: Any, exit_code: int) -> RlkError:
    """The error with which a process ended."""
    if failures.empty():
        how = f"by signal {-exit_code}" if exit_code < 0 else "by an error, which is printed above"
        return RlkError(f"a process of the search ended {how}.")
    text, code = failures.get()
    error = RlkError(text)
    error.exit_code = code
    return error


def _end(processes: Iterable[Any]) -> None:
    """End all processes that still run, and wait for them."""
    started = [process for process in processes if process.pid is not None]
    for process in started:
        process.terminate()
    for process in started:
        process.join(END_SECONDS)
        if process.exitcode is None:
            process.kill()
            process.join()
