"""The processes of a search."""

from __future__ import annotations

import csv
import os
import re
import signal
import subprocess
import sys
import sysconfig
import weakref
from collections.abc import Callable
from multiprocessing import Pipe, SimpleQueue, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from rlk.errors import RlkError
from rlk_testing.tools.command_line import Terminal
from rlk_tune import process_ends, work
from rlk_tune.search import Search
from rlk_tune.signals import INTERRUPTIONS
from rlk_tune.study import KILLED, next_trial, open_study
from rlk_tune.work import _await, _Jobs

#: The environment of `typed`.
MATCH = "rlk_testing.environments:DiscreteMatch"


class Ended:
    """A process whose sentinel is ready before its exit code is known."""

    pid = 4321

    def __init__(self, *codes: int | None) -> None:
        self.sentinel, other = Pipe()
        other.close()
        self._codes = list(codes)

    @property
    def exitcode(self) -> int | None:
        return self._codes.pop(0) if len(self._codes) > 1 else self._codes[0]


def replaced_by_none(job: int) -> bool:
    pytest.fail(f"the process of job {job} was not killed")


@pytest.mark.parametrize("before", range(4))
def test_an_exit_code_that_comes_late_is_not_missed(before: int) -> None:
    failures: Any = SimpleQueue()
    failures.put(("the environment broke", 3))
    processes = [Ended(0), Ended(*[None] * before, 3)]
    with pytest.raises(RlkError, match="the environment broke") as raised:
        _await(processes, failures, replaced_by_none)
    assert raised.value.exit_code == 3


def test_processes_that_end_well_are_waited_for() -> None:
    _await([Ended(0), Ended(None, None, 0)], SimpleQueue(), replaced_by_none)


@pytest.mark.parametrize(("code", "is_replaced"), [(-9, False), (-11, True)])
def test_a_process_that_ran_no_trial_or_that_crashed_ends_the_search(
    code: int, is_replaced: bool
) -> None:
    said = rf"^the process of job 1 \(pid 4321\) ended by signal {-code} \("
    with pytest.raises(RlkError, match=said):
        _await([Ended(code)], SimpleQueue(), lambda job: is_replaced)


#: An environment that kills its process, or the server, in the first of its steps, or in all.
DEADLY = """
import os
import signal
import time
from pathlib import Path

from rlk_testing.environments import DiscreteMatch
from rlk_tune.process_ends import LOOK_SECONDS


class Deadly(DiscreteMatch):
    def __init__(self, always=False, by="SIGKILL", server=False, **keywords):
        super().__init__(**keywords)
        self.always, self.by, self.server = always, getattr(signal, by), server

    def step(self, action):
        try:
            (Path(__file__).parent / "killed").touch(exist_ok=self.always)
        except FileExistsError:
            return super().step(action)
        os.kill(os.getppid() if self.server else os.getpid(), self.by)
        if self.server:  # until this process has found that its server is gone
            time.sleep(4 * LOOK_SECONDS)
        return super().step(action)
"""


def in_a_deadly_environment(typed: list[Any]) -> list[Any]:
    """The command with that environment."""
    Path("deadly.py").write_text(DEADLY)
    place = f"{Path.cwd()}/deadly.py:Deadly"
    return [place if word == MATCH else word for word in typed]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process gets SIGKILL")
@pytest.mark.parametrize("always", [False, True])
def test_a_trial_whose_process_is_killed_has_failed_and_the_search_goes_on(
    rlk_typed: Terminal, typed: list[Any], monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe has room for all
    typed = in_a_deadly_environment(typed)
    ended = rlk_typed(*typed, "--set", f"env.always={always}", "--out", "mine", "--jobs", 2)
    failed = [line for line in ended.out.splitlines() if "    failed  " in line]
    assert all(line.endswith(f"({KILLED})") for line in failed)
    trials = table("mine")
    assert [row["state"] for row in trials].count("failed") == len(failed) == (4 if always else 1)
    assert all(row["reason"] == (KILLED if row["state"] == "failed" else "") for row in trials)
    assert len({row["seed"] for row in trials}) == len(trials) == 4
    if always:
        assert ended.code == 1
        assert "no trial finished its training. The first one failed: its process" in ended.err
    else:
        assert (ended.code, ended.err) == (0, "")


@pytest.mark.skipif(sys.platform != "linux", reason="no server starts processes")
@pytest.mark.parametrize(
    ("by", "server", "said"),
    [
        (
            "SIGKILL",
            True,
            r"server of all jobs' processes \(pid \d+\) ended by signal 9 \(Killed\)",
        ),
        ("SIGTERM", True, r"server of all jobs' processes \(pid \d+\) ended by signal 15 \(Term"),
        ("SIGTERM", False, r"process of job [12] \(pid \d+\) ended by signal 15 \(Terminated\)"),
    ],
)
def test_a_search_that_is_ended_from_outside_says_by_what_and_goes_on_later(
    rlk_typed: Terminal, typed: list[Any], by: str, server: bool, said: str
) -> None:
    typed = in_a_deadly_environment(typed)
    typed += ["--set", f"env.by={by}", "--set", f"env.server={server}", "--out", "mine"]
    ended = rlk_typed(*typed, "--jobs", 2)
    assert ended.code == 1 and re.match(rf"Error: the {said}", ended.err), ended.err
    assert "continue with: rlk tune --out mine" in ended.out
    assert "interrupted" in {row["state"] for row in table("mine")} <= {"interrupted", "complete"}
    again = rlk_typed(*typed, "--jobs", 2)
    assert (again.code, again.err) == (0, "") and "4 of 4 trials: 4 trained" in again.out


def test_a_process_that_is_killed_between_two_trials_is_started_anew(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[Any] = []
    study = open_study(tmp_path, search())
    study.tell(next_trial(study, search(), job=0)[0], 1.0)  # before the search was continued
    jobs = _Jobs(tmp_path, search(), study, 3, quiet=True)
    monkeypatch.setattr(jobs, "_start", started.extend)
    jobs.start(1)
    assert not jobs.replace(0), "it has begun no trial, and the next one would be killed, too"
    study.tell(next_trial(study, search(), job=0)[0], 1.0)
    assert jobs.replace(0)
    assert len(started) == 2 and jobs.processes == started[1:]
    assert not jobs.replace(0)


@pytest.mark.skipif(not hasattr(os, "kill"), reason="no process sends itself a signal")
def test_a_signal_is_not_lost_while_an_agents_memory_is_freed(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Agent:
        """Refers to itself."""

    agent: Any = Agent()
    agent.own = agent
    ended = weakref.ref(agent, lambda _: os.kill(os.getpid(), signal.SIGTERM))
    study = open_study(tmp_path, search())
    monkeypatch.setattr(work, "run_trial", lambda *_: None)
    del agent
    with pytest.raises(KeyboardInterrupt), INTERRUPTIONS.enabled():
        work._run_and_report(tmp_path, search(), study, job=0, quiet=True)
    assert ended() is None


class StartsNot:
    """A process of which the server knows nothing any more."""

    def start(self) -> None:
        raise EOFError


@pytest.mark.parametrize("error", [RlkError("the server ended"), None])
def test_a_server_that_ends_while_processes_start_is_named(
    tmp_path: Path,
    search: Callable[..., Search],
    monkeypatch: pytest.MonkeyPatch,
    error: RlkError | None,
) -> None:
    jobs = _Jobs(tmp_path, search(), open_study(tmp_path, search()), 3, quiet=True)
    monkeypatch.setattr(work, "server_failure", lambda: error)
    with pytest.raises(EOFError if error is None else RlkError):
        jobs._start([StartsNot()])


def test_a_trial_that_a_killed_process_had_not_begun_is_run_at_last(
    tmp_path: Path, search: Callable[..., Search], monkeypatch: pytest.MonkeyPatch
) -> None:
    study = open_study(tmp_path, search())

    def all_but_one(jobs: _Jobs, number: int) -> None:
        for _ in range(3):
            study.tell(next_trial(study, search(), job=0)[0], 1.0)

    monkeypatch.setattr(work, "_in_processes", all_but_one)
    work.work(tmp_path, search(), study, jobs=2, quiet=True)
    assert [row["state"] for row in table(str(tmp_path))] == ["complete"] * 4


def test_a_file_in_the_current_folder_is_not_imported_in_the_place_of_a_library(
    typed: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("torch", "random"):
        Path(f"{name}.py").write_text(f"raise ImportError('{name}.py of the current folder')")
    rlk = Path(sysconfig.get_path("scripts"), "rlk")
    command = [rlk, *map(str, typed), "--out", "mine", "--jobs", "2"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [row["state"] for row in table("mine")] == ["complete"] * 4


def table(folder: str) -> list[dict[str, str]]:
    """The rows of trials.csv."""
    with Path(folder, "trials.csv").open() as file:
        return list(csv.DictReader(file))


def be_deaf(held: Connection) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    process_ends.END_SECONDS = 0.1
    process_ends.end_with_starters()


def start_and_die(held: Connection) -> None:
    get_context("fork").Process(target=be_deaf, args=(held,)).start()
    os._exit(0)


def lose_the_server(held: Connection) -> None:
    parents = iter([7, 7, 1])
    os.getppid = lambda: next(parents)
    be_deaf(held)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize("lose", [start_and_die, lose_the_server])
def test_a_process_whose_starters_are_gone_ends_whatever_it_does_with_signals(
    lose: Callable[[Connection], None],
) -> None:
    mine, held = Pipe(duplex=False)
    parent = get_context("fork").Process(target=lose, args=(held,))
    parent.start()
    held.close()
    try:
        assert mine.poll(30)
        with pytest.raises(EOFError):
            mine.recv()
    finally:
        parent.kill()
        parent.join()
