"""The processes of a search."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sysconfig
from multiprocessing import Pipe, SimpleQueue, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from rlk.errors import RlkError
from rlk_testing.command_line import Terminal
from rlk_tune import work
from rlk_tune.study import KILLED
from rlk_tune.work import _await


class Ended:
    """A process whose sentinel is ready before its exit code is known."""

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
    with pytest.raises(RlkError, match=f"a process of the search ended by signal {-code}"):
        _await([Ended(code)], SimpleQueue(), lambda job: is_replaced)


#: An environment that kills its process in the first of its steps, or in all if told to.
DEADLY = """
import os
import signal
from pathlib import Path

from rlk_testing.environments import DiscreteMatch


class Deadly(DiscreteMatch):
    def __init__(self, always=False, **keywords):
        super().__init__(**keywords)
        self.always = always

    def step(self, action):
        try:
            (Path(__file__).parent / "killed").touch(exist_ok=self.always)
        except FileExistsError:
            return super().step(action)
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process gets SIGKILL")
@pytest.mark.parametrize("always", [False, True])
def test_a_trial_whose_process_is_killed_has_failed_and_the_search_goes_on(
    rlk_typed: Terminal, typed: list[Any], monkeypatch: pytest.MonkeyPatch, always: bool
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)  # a pipe has room for all
    Path("deadly.py").write_text(DEADLY)
    typed[typed.index("--env") + 1] = f"{Path.cwd()}/deadly.py:Deadly"
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
    work.END_SECONDS = 0.1
    work._end_with_parent()


def start_and_die(held: Connection) -> None:
    get_context("fork").Process(target=be_deaf, args=(held,)).start()
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_a_process_whose_parent_is_gone_ends_whatever_it_does_with_signals() -> None:
    mine, held = Pipe(duplex=False)
    parent = get_context("fork").Process(target=start_and_die, args=(held,))
    parent.start()
    held.close()
    parent.join()
    assert mine.poll(30)
    with pytest.raises(EOFError):
        mine.recv()
