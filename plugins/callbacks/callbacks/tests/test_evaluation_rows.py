"""Every evaluation is in a row of metrics, and that row is of the timestep of the evaluation."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.agent import Agent
from rlk.hookspecs import hookimpl
from rlk.saving import checkpoint, saved_files
from rlk_callbacks import evaluation as module
from rlk_callbacks.history import HISTORY, read_history
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)
NEVER = 1_000_000


def made(*plugins: Any, out: Path, **settings: Any) -> Agent:
    """A small agent whose iterations are 4 timesteps."""
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    return rlk.make("stand-in", kernel=KERNEL, plugins=list(plugins), out=str(out), **keywords)


def rows(folder: Path) -> list[tuple[int, str]]:
    """(timesteps, mean return of an evaluation, as it is written) of every row."""
    with (folder / "progress.csv").open() as file:
        found = csv.DictReader(file)
        return [(int(r["time/total_timesteps"]), r.get("eval/mean_reward", "")) for r in found]


def evaluations(folder: Path) -> list[tuple[int, str]]:
    return [(one.timesteps, str(one.mean_return)) for one in read_history(folder / HISTORY)]


def test_evaluations_between_two_rows_have_rows_of_their_own(tmp_path: Path) -> None:
    with made("evaluation:every=12", "no:checkpoint", out=tmp_path, log_interval=NEVER) as agent:
        agent.learn(40)
    assert [timesteps for timesteps, _ in rows(tmp_path)] == [12, 24, 36, 40]
    assert rows(tmp_path) == evaluations(tmp_path)


def test_no_row_is_doubled_where_one_was_due_and_the_others_come_as_without(tmp_path: Path) -> None:
    plugins = ("evaluation:every=16", "no:checkpoint")
    for name, chosen in (("with", plugins), ("without", plugins[1:])):
        with made(*chosen, out=tmp_path / name, log_interval=1) as agent:
            agent.learn(40)
    found, plain = rows(tmp_path / "with"), rows(tmp_path / "without")
    assert (16, "") in plain and (32, "") not in plain
    due = {timesteps for timesteps, _ in plain}
    assert [timesteps for timesteps, _ in found] == sorted(due | {16, 32, 40})
    assert [row for row in found if row[1]] == evaluations(tmp_path / "with")


def test_an_evaluation_that_fails_leaves_no_row_to_the_next_call_of_learn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError("the evaluation broke off")

    with made("evaluation:every=12", "no:checkpoint", out=tmp_path, log_interval=NEVER) as agent:
        with monkeypatch.context() as broken:
            broken.setattr(module, "evaluate_run", fails)
            with pytest.raises(RuntimeError, match="broke off"):
                agent.learn(24)
        agent.learn(24)
    assert [timesteps for timesteps, _ in rows(tmp_path)] == [12, 24]
    assert rows(tmp_path) == evaluations(tmp_path)


class SavesBefore:
    """Writes a checkpoint of timestep 12 before the evaluation that is due there."""

    @hookimpl(tryfirst=True)
    def rlk_update_end(self, run: Any) -> None:
        self.save(run)

    def save(self, run: Any) -> None:
        if run.timesteps == 12:
            saved_files.save(run, run.out / "checkpoints" / "12", checkpoint.run_state)


class SavesAfter(SavesBefore):
    """Writes it between the evaluation and the row that it asks for."""

    @hookimpl(trylast=True)
    def rlk_update_end(self, run: Any) -> None:
        self.save(run)


@pytest.mark.parametrize("saves", [SavesBefore(), SavesAfter()])
def test_a_resumed_run_writes_the_row_that_its_checkpoint_came_before(
    tmp_path: Path, saves: Any
) -> None:
    with made("evaluation:every=12", saves, out=tmp_path, log_interval=NEVER) as agent:
        agent.learn(24)
    whole = rows(tmp_path)
    with rlk.load(
        tmp_path / "checkpoints" / "12.zip",
        env=WALK,
        out=str(tmp_path),
        kernel=KERNEL,
        plugins=[saves],
    ) as agent:
        agent.learn_until(24)
    assert rows(tmp_path) == whole == evaluations(tmp_path)
