"""Runs the trials of a search, in this process or in several that share its storage."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import click
import optuna
from optuna.trial import FrozenTrial

from rlk.errors import RlkError
from rlk_cli.signals import CODES
from rlk_tune import report, results
from rlk_tune.process_ends import END_SECONDS, KILLED, end_with_starters, failure, server_failure
from rlk_tune.search import Search, read
from rlk_tune.signals import INTERRUPTIONS, kept_from_processes
from rlk_tune.study import begun_by, counted, end_killed, open_study
from rlk_tune.trial import run_trial

#: How processes start. On Linux, a server imports torch once and forks them; elsewhere, libraries
#: that are loaded before a fork may fail after it.
START = "forkserver" if sys.platform == "linux" else "spawn"


def work(folder: Path, search: Search, study: optuna.Study, jobs: int, *, quiet: bool) -> None:
    """Run the remaining trials of a search.

    A process that is killed between two trials may have been about to run one: that is run at last.

    Raises:
        KeyboardInterrupt: for a signal, after everything that was started has ended.
        RlkError: for an error that the drawn settings did not cause.
    """
    with INTERRUPTIONS.enabled():
        while (left := search.trials - len(counted(study))) > 0:
            if jobs == 1 or left < 2:
                _run_and_report(folder, search, study, job=0, quiet=quiet)
            else:
                _in_processes(_Jobs(folder, search, study, left, quiet=quiet), min(jobs, left))


def _run_and_report(
    folder: Path, search: Search, study: optuna.Study, *, job: int, quiet: bool
) -> None:
    """Run a trial, and update the files."""
    trial = run_trial(search, study, job)
    # An agent has reference cycles: the replays of several would stay in memory. What is collected
    # calls code of weak references, in which an interruption would be lost.
    with INTERRUPTIONS.held():
        gc.collect()
    _report(folder, search, study, trial, quiet=quiet)


def _report(
    folder: Path, search: Search, study: optuna.Study, trial: FrozenTrial, *, quiet: bool
) -> None:
    """Update the files after a trial, and print its line."""
    results.write(folder, search, study, trial)
    if not quiet:
        click.echo(report.line(trial, search, study))


# ---- several processes ---------------------------------------------------------------------------


class _Jobs:
    """The processes that run trials, one for each job.

    Attributes:
        processes: by job.
        failures: the text and the exit code of the error that has ended a process.
    """

    def __init__(
        self, folder: Path, search: Search, study: optuna.Study, left: int, *, quiet: bool
    ) -> None:
        """`left` trials are to be run."""
        self._context: Any = multiprocessing.get_context(START)
        if START == "forkserver":
            self._context.set_forkserver_preload(["rlk_tune.work", "rlk.making"])
        self.processes: list[Any] = []
        self.failures = self._context.SimpleQueue()
        #: Every process holds the second end, so at the first one is read when all have ended.
        self._all_ended, self._held = self._context.Pipe(duplex=False)
        self._begun: list[int] = []  #: trials of each job, when its process was started
        self._tickets = self._context.Semaphore(left)
        self._folder, self._search, self._study, self._quiet = folder, search, study, quiet

    def start(self, jobs: int) -> None:
        """Start the processes of all jobs."""
        self._begun += [begun_by(self._study, job) for job in range(jobs)]
        self.processes += [self._process(job) for job in range(jobs)]
        self._start(self.processes)

    def replace(self, job: int) -> bool:
        """Start another process in place of a killed one; False if that one began no trial."""
        begun = begun_by(self._study, job)
        if begun == self._begun[job]:
            return False
        trial = end_killed(self._study, job)
        if trial is not None:
            _report(self._folder, self._search, self._study, trial, quiet=self._quiet)
        self._begun[job] = begun
        self.processes[job] = self._process(job)
        self._start([self.processes[job]])
        return True

    def end(self) -> None:
        """End all processes that still run, and wait for them."""
        started = [process for process in self.processes if process.pid is not None]
        for process in started:
            process.terminate()
        for process in started:
            process.join(END_SECONDS)
            if process.exitcode is None:
                process.kill()
                process.join()
        # Without their server, the above has no effect on them: they end by themselves.
        self._held.close()
        wait([self._all_ended], 2 * END_SECONDS)

    def _process(self, job: int) -> Any:
        arguments = (self._folder, job, self._tickets, self.failures, self._held, self._quiet)
        return self._context.Process(target=_job, args=arguments)

    def _start(self, processes: Iterable[Any]) -> None:
        # This process tells them to end; a signal that comes meanwhile has its effect afterwards.
        with INTERRUPTIONS.held(), kept_from_processes(signal.SIGINT), _safe_path():
            for process in processes:
                try:
                    process.start()
                except (EOFError, OSError) as error:
                    raise server_failure() or error from error


@contextlib.contextmanager
def _safe_path() -> Iterator[None]:
    """Let the server, which Python starts by `-c`, import nothing from the current folder."""
    name = "PYTHONSAFEPATH"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _in_processes(jobs: _Jobs, number: int) -> None:
    """Run the trials in this many processes; the first that fails ends the others."""
    try:
        jobs.start(number)
        _await(jobs.processes, jobs.failures, jobs.replace)
    finally:
        jobs.end()


def _await(processes: list[Any], failures: Any, replace: Callable[[int], bool]) -> None:
    """Wait until all processes have ended, or raise the error of the first that fails.

    A sentinel may be ready a moment before the exit code is known, so each code is read once: one
    that came between two readings would be missed.

    Args:
        processes: by job.
        failures: of processes that fail.
        replace: puts another process in the place of the killed one of a job, or returns False.
    """
    running: Iterable[int] = range(len(processes))
    while running:
        wait([processes[job].sentinel for job in running])
        codes = {job: processes[job].exitcode for job in running}
        for job, code in codes.items():
            if code == KILLED and replace(job):
                codes[job] = None
            elif code:
                raise failure(failures, job, processes[job].pid, code)
        running = [job for job, code in codes.items() if code is None]


def _job(
    folder: Path, job: int, tickets: Any, failures: Any, held: Connection, quiet: bool
) -> None:
    """The work of one of the processes, which has `held` open until it ends."""
    try:
        with INTERRUPTIONS.enabled():
            threading.Thread(target=end_with_starters, daemon=True).start()
            search = read(folder)
            study = open_study(folder, search)
            while tickets.acquire(block=False):
                _run_and_report(folder, search, study, job=job, quiet=quiet)
    except KeyboardInterrupt as signalled:
        sys.exit(getattr(signalled, "exit_code", CODES["SIGINT"]))
    except RlkError as error:
        failures.put((str(error), error.exit_code))
        sys.exit(error.exit_code)
