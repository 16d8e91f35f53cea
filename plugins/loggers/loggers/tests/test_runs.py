"""The loggers in a run."""

from __future__ import annotations

from pathlib import Path

import pytest

import rlk
from rlk.errors import PlanError
from rlk.growing_file import GrowingFile
from rlk_loggers.csv_file import CsvLogger
from rlk_loggers.tensorboard import TensorboardLogger
from rlk_testing.stand_ins import stand_in_kernel
from rlk_testing.tools.fresh_python import run_python

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)
TOLD = {"env": WALK, "seed": 3, "collector": "steps", "serializer": "zip", "n_threads": 1}


def timesteps_in(folder: Path) -> list[str]:
    """The first field of every row."""
    rows = (folder / "progress.csv").read_text().splitlines()[1:]
    return [row.partition(",")[0] for row in rows]


def test_a_run_leaves_a_row_for_every_one_that_was_due(tmp_path: Path) -> None:
    plugins = ["tensorboard"]
    with rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path), plugins=plugins, **TOLD) as agent:
        agent.learn(40)
    header, *rows = (tmp_path / "progress.csv").read_text().splitlines()
    assert {"rollout/ep_rew_mean", "train/loss", "time/fps"} <= set(header.split(","))
    assert len(rows) > 1
    assert len(list(tmp_path.glob("events.out.tfevents.*"))) == 1


def test_one_object_writes_the_rows_of_each_agent_into_its_own_folder(tmp_path: Path) -> None:
    loggers = [CsvLogger(), TensorboardLogger()]
    folders = [tmp_path / "first", tmp_path / "second"]
    told = TOLD | {"kernel": KERNEL, "plugins": ["no:csv"]}
    with (
        rlk.make("stand-in", out=str(folders[0]), **told) as first,
        rlk.make("stand-in", out=str(folders[1]), **told) as second,
    ):
        first.learn(40, callback=loggers)
        second.learn(40, callback=loggers)
        once = timesteps_in(folders[0])
        assert timesteps_in(folders[1]) == once
        first.learn(40, callback=loggers)
    twice = timesteps_in(folders[0])
    assert (
        timesteps_in(folders[1]) == once and once == twice[: len(once)] and len(twice) > len(once)
    )
    for folder in folders:
        assert len(list(folder.glob("events.out.tfevents.*"))) == 1


@pytest.mark.parametrize("name", ["csv", "tensorboard"])
def test_a_write_that_failed_and_was_made_up_for_does_not_make_learn_raise(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, errors = GrowingFile.write, [OSError("stale file handle")]

    def fails_once(self: GrowingFile, data: bytes, head: bytes) -> bool:
        if errors and self.has_begun():
            raise errors.pop()
        return write(self, data, head)

    monkeypatch.setattr(GrowingFile, "write", fails_once)
    told = {**TOLD, "plugins": [name, "no:checkpoint"]}
    with rlk.make("stand-in", kernel=KERNEL, out=str(tmp_path), **told) as agent:
        agent.learn(40)
        assert not errors and not agent.run.failed_writes


@pytest.mark.parametrize("name", ["csv", "tensorboard"])
def test_a_file_logger_without_a_folder_is_refused_while_planning(name: str) -> None:
    with pytest.raises(PlanError, match=f"{name!r}.*--out"):
        rlk.make("stand-in", kernel=KERNEL, plugins=[name], **TOLD)


@pytest.mark.parametrize(("verbose", "printed"), [(1, 1), (0, 0)])
def test_a_run_that_prints_says_how_to_see_its_events(
    tmp_path, monkeypatch, capsys, verbose, printed
):
    monkeypatch.chdir(tmp_path)
    given = {"out": "a run", "verbose": verbose, "plugins": ["tensorboard", "no:table"]}
    with rlk.make("a2c", env="CartPole-v1", seed=0, **given) as agent:
        agent.learn(10)
        agent.learn(10)
    lines = capsys.readouterr().out.splitlines()
    assert lines.count("  to see it: tensorboard --logdir 'a run'") == printed
    if verbose:
        assert "into a run/" in lines[lines.index("  to see it: tensorboard --logdir 'a run'") - 1]


def test_what_is_printed_does_not_move_pythons_global_generator() -> None:
    """In a fresh process, because rich draws when it is imported."""
    run_python(
        "import random, rlk\n"
        "before = random.getstate()\n"
        "with rlk.make('a2c', env='CartPole-v1', preset='none', n_threads=1, verbose=1) as agent:\n"
        "    agent.learn(8)\n"
        "assert random.getstate() == before"
    )
