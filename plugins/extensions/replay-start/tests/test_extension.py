"""Runs that begin with the replay of others, by the plugin and by the two methods of an agent."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import rlk
from rlk.agent import Agent
from rlk.errors import BadFile, PlanError, RlkError
from rlk.registry.kernel import Kernel
from rlk_testing.tools.states import same
from rlk_testing.tools.thread_ranks import ThreadRank, on_ranks
from rlk_zip.serializer import ZipSerializer

SMALL: dict[str, Any] = {"env": "CartPole-v1", "batch_size": 8, "learning_starts": 20, "seed": 1}
PRIORITIES = ("prioritized-replay",)


def made(algo: str = "dqn", *plugins: str, **given: Any) -> Agent:
    return rlk.make(algo, plugins=list(plugins), **{**SMALL, "buffer_size": 100, **given})


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run of two environments with 60 transitions and priorities."""
    out = tmp_path_factory.mktemp("runs") / "first"
    with made("dqn", *PRIORITIES, n_envs=2, out=str(out)) as agent:
        agent.learn(20).save_checkpoint(out / "checkpoints" / "20")  # not the newest
        agent.learn(40, reset_num_timesteps=False)
        agent.save_replay_buffer(out / "replay")
        agent.save(out / "model")
        agent.save_checkpoint(out / "checkpoints" / "60")
    return out


@pytest.mark.parametrize("place", ["", "replay.zip", "checkpoints/60.zip"])
def test_a_run_begins_with_the_replay_of_another(first: Path, place: str) -> None:
    with made("dqn", f"replay-start:run={first / place}", n_envs=3, buffer_size=200) as agent:
        agent.learn(3)
        assert len(agent.run.storage) == 60 + 3
        agent.learn(3, reset_num_timesteps=False)
        assert len(agent.run.storage) == 60 + 6  # it is loaded once


def test_a_run_may_be_in_the_home_of_the_user(first: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(first.parent))
    with made("dqn", "replay-start:run=~/first") as agent:
        agent.learn(1)
        assert len(agent.run.storage) == 60 + 1


def test_of_the_same_form_it_is_the_same_bit_for_bit(first: Path) -> None:
    with made("dqn", *PRIORITIES, n_envs=2) as agent, made("dqn", *PRIORITIES, n_envs=2) as other:
        agent.load_replay_buffer(first / "replay.zip")
        other.load_replay_buffer(first / "checkpoints" / "60.zip")
        assert len(agent.run.storage) == 60
        assert same(agent.run.storage.state_dict(), other.run.storage.state_dict())
        priorities = agent.run.storage.state_dict()["decorators"]["choose"]["priorities"]
        assert len(set(priorities.tolist())) > 10


def test_a_run_that_is_resumed_does_not_load_it_again(first: Path, tmp_path: Path) -> None:
    with made("dqn", f"replay-start:run={first}", n_envs=2) as agent:
        path = agent.learn(10).save_checkpoint(tmp_path / "checkpoint")
        with rlk.load(path) as resumed:
            for one in (agent, resumed):
                one.learn(10, reset_num_timesteps=False)
            assert same(agent.run.storage.state_dict(), resumed.run.storage.state_dict())


def test_a_run_whose_checkpoint_has_no_replay_loads_it_again(first: Path, tmp_path: Path) -> None:
    with made("dqn", f"replay-start:run={first}") as agent:
        agent.learn(10)
        assert len(agent.run.storage) == 60 + 10
        path = agent.save_checkpoint(tmp_path / "checkpoint", replay=False)
    with rlk.load(path) as resumed:
        resumed.learn(5, reset_num_timesteps=False)
        assert len(resumed.run.storage) == 60 + 5
    lost = rlk.load(path, plugins=[f"replay-start:run={tmp_path / 'moved'}"])
    with lost, pytest.raises(BadFile, match=r"moved does not exist, .*--plugin no:replay-start"):
        lost.learn(5)


def test_it_says_with_how_many_transitions_a_run_begins(
    first: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with made("dqn", f"replay-start:run={first}", verbose=1) as agent:
        agent.learn(1)
    assert f"replay-start: the run begins with 60 transitions of {first}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plugin", "algo", "told"),
    [
        ("replay-start", "dqn", "needs a run whose replay to begin with. Use --plugin replay-sta"),
        ("replay-start:run=there", "a2c", r"'rollout' .* is none\. Leave it out, or use"),
    ],
)
def test_what_cannot_work_is_refused_while_planning(plugin: str, algo: str, told: str) -> None:
    with pytest.raises(PlanError, match=told):
        rlk.make(algo, env="CartPole-v1", plugins=[plugin])


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("first/model.zip", r"model.zip holds no transitions. Checkpoints hold"),
        ("", "holds no checkpoint, so it has no replay"),
        ("nowhere", r"nowhere does not exist, .*--plugin no:replay-start"),
        ("first/damaged.zip", "damaged.zip"),
    ],
)
def test_a_run_without_a_replay_is_refused_while_planning(
    first: Path, place: str, told: str
) -> None:
    (first / "damaged.zip").write_bytes(b"not a zip file")
    with pytest.raises(PlanError, match=f"cannot begin the replay: .*{told}"):
        made("dqn", f"replay-start:run={first.parent / place}")


def test_a_run_that_is_gone_when_training_starts_is_refused(first: Path, tmp_path: Path) -> None:
    path = shutil.copy(first / "replay.zip", tmp_path / "replay.zip")
    with made("dqn", f"replay-start:run={path}") as agent:
        Path(path).unlink()
        with pytest.raises(BadFile, match=r"replay.zip does not exist.*--plugin no:replay-start"):
            agent.learn(1)


def test_every_rank_has_all_transitions_and_one_says_so(
    first: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sizes = {}

    def begins(communicator: ThreadRank) -> None:
        with made("dqn", f"replay-start:run={first}", verbose=1) as agent:
            agent.run.communicator = communicator
            agent.run.notify("rlk_training_start")
            sizes[communicator.rank] = len(agent.run.storage)

    on_ranks(2, begins)
    assert sizes == {0: 60, 1: 60}
    assert capsys.readouterr().err.count("the run begins with 60 transitions") == 1


def test_a_replay_of_another_environment_is_refused(first: Path) -> None:
    refused = pytest.raises(BadFile, match=r"observation is <f4\[4\] there, <f4\[6\] here")
    with made("dqn", env="Acrobot-v1") as agent, refused:
        agent.load_replay_buffer(first / "replay.zip")


def test_a_replay_is_no_model(first: Path) -> None:
    with pytest.raises(BadFile, match=r"holds no model. .*agent.load_replay_buffer"):
        rlk.load(first / "replay.zip")


def test_a_replay_is_never_saved_over_a_model(tmp_path: Path) -> None:
    with made() as agent:
        agent.learn(5).save(tmp_path / "same")
        with pytest.raises(PlanError, match=r"same\.zip: that file holds a model"):
            agent.save_replay_buffer(tmp_path / "same")
    rlk.load(tmp_path / "same").close()


def test_an_algorithm_that_has_no_replay_says_so(first: Path, tmp_path: Path) -> None:
    with rlk.make("a2c", env="CartPole-v1") as agent:
        for call in (agent.save_replay_buffer, agent.load_replay_buffer):
            with pytest.raises(RlkError, match=r"'rollout' .*keeps no replay that runs can hand"):
                call(first / "replay.zip" if call == agent.load_replay_buffer else tmp_path / "x")


class Boxes(ZipSerializer):
    """Zips by another name, which only one kernel knows."""

    suffix = ".box"


@pytest.mark.parametrize("place", ["", "checkpoints/30.box"])
def test_a_serializer_of_the_runs_own_kernel_reads_it(tmp_path: Path, place: str) -> None:
    kernel = Kernel()
    kernel.registries.serializers.register("box", Boxes)
    settings = {"kernel": kernel, "serializer": "box"}
    with made("dqn", **settings) as agent:
        agent.learn(30)
        agent.save_checkpoint(tmp_path / "checkpoints" / "30")
    with made("dqn", f"replay-start:run={tmp_path / place}", **settings) as agent:
        agent.learn(3)
        assert len(agent.run.storage) == 33
