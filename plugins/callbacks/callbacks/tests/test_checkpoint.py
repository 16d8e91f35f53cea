"""Checkpoints: when they are written, what they hold, and which are kept."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import rlk
from rlk.agent import Agent
from rlk.errors import EnvironmentFailed, NotFinite
from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import spec_of
from rlk.saving import checkpoint, saved_files
from rlk_callbacks import checkpoint as module
from rlk_callbacks.checkpoint import replaced, size_of
from rlk_model_files.locate import checkpoints
from rlk_testing.stand_ins import stand_in_kernel
from rlk_zip.serializer import ZipSerializer

WALK = "rlk_testing.environments:Walk"
MATCH = "rlk_testing.environments:DiscreteMatch"
KERNEL = stand_in_kernel(discover=True)


def made(out: Path, *plugins: Any, **settings: Any) -> Agent:
    """A small agent whose iterations are 4 timesteps; only the named plugins write files."""
    quiet = ("no:table", "no:monitor", *(() if "csv" in plugins else ("no:csv",)))
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "n_threads": 1, **settings}
    return rlk.make("stand-in", kernel=KERNEL, plugins=[*quiet, *plugins], out=str(out), **keywords)


def names(out: Path) -> list[str]:
    return [path.stem for path in checkpoints(out, ".zip")]


def resumed(path: Path, out: Path, **changes: Any) -> tuple[Agent, list[str]]:
    state = saved_files.read(path, KERNEL)
    spec = spec_of(
        state["manifest"]["plan"],
        KERNEL,
        resumes=True,
        changes={"n_threads": 1, **changes},
        env=WALK,
    )
    spec = make_spec("stand-in", {"out": str(out)}).over(spec)
    agent = Agent(resolve(KERNEL, spec), spec)
    return agent, checkpoint.restore(agent.run, state)


def test_a_run_that_a_program_continues_in_its_folder_keeps_its_checkpoints(tmp_path: Path) -> None:
    with made(tmp_path, checkpoint={"every": 4, "keep": None}) as agent:
        agent.learn(24)
    assert len(names(tmp_path)) == 6
    for place in (tmp_path, tmp_path / "checkpoints" / "24.zip"):
        with rlk.load(place, kernel=KERNEL, env=WALK, out=str(tmp_path)) as agent:
            agent.learn(8, reset_num_timesteps=False)
    assert len(names(tmp_path)) >= 8
    with rlk.load(tmp_path, kernel=KERNEL, env=WALK) as agent:
        assert not [one for one in agent.plan.callbacks if one.name == "checkpoint"]


def test_a_run_leaves_a_model_and_a_checkpoint_at_its_end(tmp_path: Path) -> None:
    with made(tmp_path) as agent:
        agent.learn(20)
    assert names(tmp_path) == ["20"]
    assert (tmp_path / "model.zip").is_file()
    assert "run" not in saved_files.read(tmp_path / "model.zip", KERNEL)["manifest"]["contents"]
    whole = saved_files.read(tmp_path / "checkpoints" / "20.zip", KERNEL)["manifest"]
    assert {"run", "storage", "environments"} <= set(whole["contents"])


def test_a_run_can_be_resumed_from_its_start_until_another_checkpoint_is_there(
    tmp_path: Path,
) -> None:
    seen = {}

    def look(run: Any) -> None:
        seen[run.timesteps] = names(tmp_path)

    with made(tmp_path, "checkpoint:every=8,keep=none") as agent:
        agent.learn(12, callback=look)
        assert (seen[1], seen[8], seen[9]) == (["0"], ["0"], ["8"])
        assert names(tmp_path) == ["8", "12"]
        agent.learn(4, callback=look)
    assert seen[1] == ["8", "12"], "the folder has others already"


def test_every_counts_timesteps_and_waits_for_the_border(tmp_path: Path) -> None:
    with made(tmp_path, "checkpoint:every=10,keep=none") as agent:
        agent.learn(40)
    # Iterations end at multiples of 4; 10, 20, 30 and 40 are passed at these.
    assert names(tmp_path) == ["12", "20", "32", "40"]


def test_only_the_newest_stay(tmp_path: Path) -> None:
    with made(tmp_path, "checkpoint:every=4,keep=2") as agent:
        agent.learn(40)
    assert names(tmp_path) == ["36", "40"]


def test_the_newest_stay_where_the_clock_of_the_machine_was_set_back(tmp_path: Path) -> None:
    with made(tmp_path, "checkpoint:every=4,keep=2") as agent:
        agent.learn(8)
        for path in checkpoints(tmp_path, ".zip"):
            os.utime(path, (time.time() + 3600,) * 2)
        agent.learn(8, reset_num_timesteps=False)
    assert names(tmp_path) == ["12", "16"]


def test_the_folder_is_not_searched_for_replaced_ones_at_every_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched = []

    def counted(run: Any) -> list[Path]:
        searched.append(run.timesteps)
        return replaced(run)

    monkeypatch.setattr(module, "replaced", counted)
    with made(tmp_path, "checkpoint:every=4,keep=none") as agent:
        agent.learn(20)
        agent.learn(12)
    assert searched == [0, 4, 4]
    assert names(tmp_path) == ["4", "8", "12"]


@pytest.mark.parametrize("keep", ["none", "9"])
def test_the_last_checkpoint_is_of_the_run_that_went_on_from_an_older_one(
    tmp_path: Path, keep: str
) -> None:
    with made(tmp_path, f"checkpoint:every=8,keep={keep}") as agent:
        agent.learn(32)
    agent, _ = resumed(tmp_path / "checkpoints" / "8.zip", tmp_path)
    with agent:
        agent.learn_until(12)
    assert names(tmp_path) == ["8", "12"]  # 16, 24 and 32 are of the branch that was left


class Boxes(ZipSerializer):
    suffix = ".box"


@pytest.fixture
def boxes() -> Iterator[None]:
    KERNEL.registries.serializers.register("box", Boxes)
    yield
    KERNEL.registries.serializers.unregister("box")


@pytest.mark.usefixtures("boxes")
def test_checkpoints_of_the_branch_that_was_left_go_whatever_serializer_wrote_them(
    tmp_path: Path,
) -> None:
    with made(tmp_path, "checkpoint:every=8,keep=none") as agent:
        agent.learn(24)
    agent, _ = resumed(tmp_path / "checkpoints" / "8.zip", tmp_path, serializer="box")
    with agent:
        agent.learn_until(12)
    assert names(tmp_path) == ["8"]
    assert saved_files.find(tmp_path / "checkpoints", KERNEL)[0].name == "12.box"


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize("runs_code", [False, True])
def test_the_newest_stay_whatever_serializer_wrote_them(tmp_path: Path, runs_code: bool) -> None:
    KERNEL.registries.serializers.unregister("box")
    KERNEL.registries.serializers.register("box", Boxes, runs_code=runs_code)
    with made(tmp_path, "checkpoint:every=4,keep=3") as agent:
        agent.learn(12)
    agent, _ = resumed(tmp_path / "checkpoints" / "12.zip", tmp_path, serializer="box")
    with agent:
        agent.learn_until(20)
        kept = [path.name for path in checkpoints(tmp_path, ".zip", ".box")]
        assert kept == ["12.zip", "16.box", "20.box"]
        agent.learn_until(28)
    kept = [path.name for path in checkpoints(tmp_path, ".zip", ".box")]
    assert kept == ["20.box", "24.box", "28.box"]


@pytest.mark.usefixtures("boxes")
@pytest.mark.parametrize(("first", "second"), [("zip", "box"), ("box", "zip")])
def test_of_two_of_the_same_timestep_the_one_written_last_stays(
    tmp_path: Path, first: str, second: str
) -> None:
    with made(tmp_path, "checkpoint:keep=1", serializer=first) as agent:
        agent.learn(8)
    agent, _ = resumed(tmp_path / "checkpoints" / f"8.{first}", tmp_path, serializer=second)
    with agent:
        agent.learn(8)
    kept = [path.name for path in checkpoints(tmp_path, ".zip", ".box")]
    assert kept == [f"8.{second}"]


@pytest.mark.parametrize(
    ("last", "shown"),
    [(24, "16.zip, 24.zip"), (1608, "16.zip, 24.zip, 32.zip, … 1608.zip (200 checkpoints)")],
)
def test_checkpoints_that_will_be_replaced_are_named_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], last: int, shown: str
) -> None:
    with made(tmp_path, "checkpoint:every=8,keep=9", verbose=1) as agent:
        agent.learn(24)
    assert "replaces" not in capsys.readouterr().err
    for timesteps in range(32, last + 1, 8):
        (tmp_path / "checkpoints" / f"{timesteps}.zip").touch()
    agent, _ = resumed(tmp_path / "checkpoints" / "8.zip", tmp_path, verbose=1)
    with agent:
        agent.learn_until(10)
    printed = capsys.readouterr().err
    assert f"the next checkpoint replaces {shown}, which the run had written" in printed
    assert "--out DIR" in printed and "reset_num_timesteps" not in printed


def test_a_call_of_learn_that_counts_anew_says_what_keeps_the_checkpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with made(tmp_path, "checkpoint:every=8", verbose=1) as agent:
        agent.learn(16)
        agent.learn(8, reset_num_timesteps=False)
        assert "replaces" not in capsys.readouterr().err
        agent.learn(8)
        printed = capsys.readouterr().err
        assert (
            "replaces 8.zip, 16.zip, 24.zip, which earlier calls of learn have written" in printed
        )
        assert "learn(…, reset_num_timesteps=False)" in printed and "--out" not in printed
        assert names(tmp_path) == ["8"]


def test_the_last_checkpoint_is_of_the_last_call_of_learn(tmp_path: Path) -> None:
    with made(tmp_path) as agent:
        agent.learn(20)
        agent.learn(8)
        assert names(tmp_path) == ["8"]
        agent.learn(8)  # which ends at the same timestep
        updates = agent.run.clock.updates
    state = saved_files.read(tmp_path / "checkpoints" / "8.zip", KERNEL)
    assert state["clock"]["updates"] == updates


def test_of_a_rollout_that_was_cut_short_nothing_is_kept(tmp_path: Path) -> None:
    given = {"env": MATCH, "seed": 3, "n_threads": 1, "n_steps": 8, "out": str(tmp_path)}
    with rlk.make("a2c", kernel=KERNEL, plugins=["checkpoint"], **given) as agent:
        agent.learn(100, callback=lambda run: run.timesteps < 12)
    manifest = saved_files.read(tmp_path / "checkpoints" / "12.zip", KERNEL)["manifest"]
    assert manifest["contents"] == ["model", "run"]


def test_the_replay_can_be_left_out(tmp_path: Path) -> None:
    with made(tmp_path, "checkpoint:replay=false") as agent:
        agent.learn(8)
    contents = saved_files.read(tmp_path / "checkpoints" / "8.zip", KERNEL)["manifest"]["contents"]
    assert "storage" not in contents
    agent, differs = resumed(tmp_path / "checkpoints" / "8.zip", tmp_path)
    agent.close()
    assert "replay" in differs[0]


def test_without_a_folder_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plugins = ["checkpoint:every=4"]
    with rlk.make("stand-in", kernel=KERNEL, env=WALK, serializer="zip", plugins=plugins) as agent:
        agent.learn(8)
    assert list(tmp_path.iterdir()) == []


def test_other_ranks_write_nothing(tmp_path: Path) -> None:
    class SecondRank(OneProcess):
        rank = 1

    class Ranks:
        @hookimpl
        def rlk_make_communicator(self) -> Any:
            return SecondRank()

    with made(tmp_path, Ranks()) as agent:
        agent.learn(8)
    assert list(tmp_path.iterdir()) == []


def test_a_resumed_run_is_the_one_that_was_never_interrupted(tmp_path: Path) -> None:
    with made(tmp_path / "a", "checkpoint:every=10,keep=none") as whole:
        whole.learn(40)
    with made(tmp_path / "b", "checkpoint:every=10,keep=none") as first:
        first.learn(20)
    # The schedule of the learning rate is that of the whole run.
    second, differs = resumed(tmp_path / "b" / "checkpoints" / "20.zip", tmp_path / "b")
    with second:
        second.learn_until(40)
    assert differs == []
    assert torch.equal(whole.run.parameters.flat, second.run.parameters.flat)
    assert names(tmp_path / "a") == names(tmp_path / "b")


def test_what_is_due_at_the_same_border_is_done_before_it(tmp_path: Path) -> None:
    class Tells:
        @hookimpl(trylast=True)
        def rlk_update_end(self, run: Any) -> None:
            run.metrics.set("told", run.timesteps)

    plugins = ("checkpoint:every=8,keep=none", "csv", Tells())
    # An episode ends, so a row is due, in every iteration.
    with made(tmp_path, *plugins, **{"env": MATCH, "env.length": 4}) as agent:
        agent.learn(24)
    with (tmp_path / "progress.csv").open() as file:
        assert [float(row["told"]) for row in csv.DictReader(file)] == [4, 8, 12, 16, 20, 24]
    for timesteps in (8, 16, 24):
        state = saved_files.read(tmp_path / "checkpoints" / f"{timesteps}.zip", KERNEL)
        assert state["clock"]["logged"] == state["clock"]["iterations"] == timesteps // 4
        assert state["metrics"]["totals"] == {} and state["metrics"]["extra"] == {}


def test_a_stop_in_the_middle_leaves_a_checkpoint(tmp_path: Path) -> None:
    class Stops:
        @hookimpl
        def rlk_update_end(self, run: Any) -> None:
            if run.timesteps == 12:
                run.stop("SIGINT")

    with made(tmp_path, Stops()) as agent:
        agent.learn(40)
    assert names(tmp_path) == ["12"]


def test_after_nan_the_last_good_files_stay(tmp_path: Path) -> None:
    bad = {"env": MATCH, "env.spoil": "reward", "env.spoil_at": 11}
    with made(tmp_path, "checkpoint:every=4,keep=none", **bad) as agent, pytest.raises(NotFinite):
        agent.learn(40)
    assert names(tmp_path) == ["4", "8"]
    assert not (tmp_path / "model.zip").exists()


def test_after_an_error_a_run_can_go_on_with_new_episodes(tmp_path: Path) -> None:
    with (
        made(tmp_path, **{"env": MATCH, "env.spoil": "error", "env.spoil_at": 10}) as agent,
        pytest.raises((EnvironmentFailed, RuntimeError)),
    ):
        agent.learn(40)
    # Two iterations and one step of the third.
    assert names(tmp_path) == ["9"]
    assert (tmp_path / "model.zip").is_file()
    state = saved_files.read(tmp_path / "checkpoints" / "9.zip", KERNEL)
    assert "environments" not in state["manifest"]["contents"]
    assert len(state["storage"]["steps"]) == 9


def test_an_error_before_anything_was_learnt_leaves_nothing(tmp_path: Path) -> None:
    spoilt = {"env": MATCH, "env.spoil": "error", "env.spoil_at": 1}
    with made(tmp_path, **spoilt) as agent, pytest.raises((EnvironmentFailed, RuntimeError)):
        agent.learn(40)
    assert list(tmp_path.iterdir()) == []


def test_a_call_of_learn_that_takes_no_step_leaves_its_model(tmp_path: Path) -> None:
    with made(tmp_path) as agent:
        agent.learn(0)
    assert names(tmp_path) == ["0"]
    assert (tmp_path / "model.zip").is_file()


def test_a_call_of_learn_that_fails_in_its_first_step_leaves_the_checkpoint_as_it_is(
    tmp_path: Path,
) -> None:
    spoilt = {"env": MATCH, "env.spoil": "error", "env.spoil_at": 9}
    with made(tmp_path, **spoilt) as agent:
        agent.learn(8)
        path = tmp_path / "checkpoints" / "8.zip"
        written = path.read_bytes()
        with pytest.raises((EnvironmentFailed, RuntimeError)):
            agent.learn(8, reset_num_timesteps=False)
    assert path.read_bytes() == written, "with the state of its environments"


def test_a_large_replay_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "LARGE_BYTES", 100)
    with made(tmp_path, "checkpoint:every=4", verbose=1) as agent:
        agent.learn(12)
    assert capsys.readouterr().err.count("GB") == 1


def test_the_size_of_a_state_is_that_of_its_arrays() -> None:
    state = {"a": np.zeros(3), "b": [torch.zeros(2), {"c": np.zeros(4, np.uint8)}], "d": "text"}
    assert size_of(state) == 24 + 8 + 4
