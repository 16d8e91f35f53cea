"""What a checkpoint holds of the environments, and what happens to a state that no file holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import rlk
from rlk import documents
from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.planning.resolve import resolve
from rlk.planning.spec import make_spec
from rlk.restoring.saved_plan import spec_of
from rlk.running import environment_states
from rlk.saving import checkpoint, saved_files
from rlk_model_files.locate import checkpoints
from rlk_model_files.serializer import FileSerializer
from rlk_testing.stand_ins import stand_in_kernel

WALK = "rlk_testing.environments:Walk"
KERNEL = stand_in_kernel(discover=True)


#: More values than a file may have in the test.
MANY = 30_000


class Prices(gym.Env[Any, Any]):
    """Has a long list of prices."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (3,), np.float32)
    action_space = gym.spaces.Discrete(3)

    def __init__(self, price: Any = 0.5) -> None:
        self.prices = [price] * MANY
        self.now = 0

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.now = 0
        return np.zeros(3, np.float32), {}

    def step(self, action: Any) -> Any:
        self.now += 1
        return np.zeros(3, np.float32), 0.0, self.now == 7, False, {}


class Texts(Prices):
    """Has a million texts, which no file holds."""

    def __init__(self) -> None:
        super().__init__("a")


class Long(Prices):
    """Has a number that no file holds."""

    def __init__(self) -> None:
        super().__init__()
        self.precise = np.longdouble(0)


def made(out: Path, *plugins: Any, **settings: Any) -> Agent:
    """A small agent whose iterations are 4 timesteps; only checkpoints are written."""
    quiet = ("no:table", "no:monitor", "no:csv")
    keywords = {"env": WALK, "vec_env": "dummy", "seed": 3, "serializer": "zip", "n_threads": 1}
    keywords |= settings
    return rlk.make("stand-in", kernel=KERNEL, plugins=[*quiet, *plugins], out=str(out), **keywords)


def resumed(path: Path, env: Any, **changes: Any) -> tuple[Agent, list[str]]:
    state = saved_files.read(path, KERNEL)
    changes = {"n_threads": 1, **changes}
    plan = state["manifest"]["plan"]
    spec = make_spec("stand-in", {}).over(spec_of(plan, KERNEL, changes=changes, env=env))
    agent = Agent(resolve(KERNEL, spec), spec)
    return agent, checkpoint.restore(agent.run, state)


def contents(path: Path) -> list[str]:
    return list(saved_files.read(path, KERNEL)["manifest"]["contents"])


@pytest.fixture(autouse=True)
def _small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (documents, environment_states):
        monkeypatch.setattr(module, "MAX_VALUES", 20_000)


def test_a_long_list_of_numbers_is_part_of_the_state(tmp_path: Path) -> None:
    with made(tmp_path, env=Prices) as agent:
        agent.learn(20)
        expected = agent.get_env().get_attr("now")
    path = tmp_path / "checkpoints" / "20.zip"
    assert "environments" in contents(path)
    agent, differs = resumed(path, Prices)
    with agent:
        assert differs == [] and agent.get_env().get_attr("now") == expected
        (prices,) = agent.get_env().get_attr("prices")
        assert prices == [0.5] * MANY


@pytest.mark.parametrize("env", [Texts, Long])
def test_a_state_that_no_file_holds_is_left_out_and_training_goes_on(
    env: type, tmp_path: Path
) -> None:
    with made(tmp_path, "checkpoint:every=8,keep=none", env=env) as agent:
        agent.learn(20)
    found = [path.stem for path in checkpoints(tmp_path, ".zip")]
    assert found == ["8", "16", "20"]
    assert "environments" not in contents(tmp_path / "checkpoints" / "20.zip")
    agent, (differs,) = resumed(tmp_path / "checkpoints" / "20.zip", env)
    with agent:
        assert "episodes start anew" in differs


@pytest.mark.parametrize("error", [ValueError("too many values"), TypeError("of type object")])
def test_a_state_that_the_serializer_refuses_is_a_failed_write(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(self: FileSerializer, path: Path, state: Any) -> None:
        if path.stem == "8":
            raise error
        write(self, path, state)

    write = FileSerializer.write
    monkeypatch.setattr(FileSerializer, "write", refuses)
    refused = rf"checkpoint, 1 time: serializer 'zip' .* cannot hold the state: {error}"
    with (
        made(tmp_path, "checkpoint:every=8,keep=none") as agent,
        pytest.raises(RlkError, match=refused),
    ):
        agent.learn(20)
    assert agent.num_timesteps == 20
    assert [path.stem for path in checkpoints(tmp_path, ".zip")] == ["16", "20"]
    assert (tmp_path / "model.zip").is_file()


def test_a_part_whose_state_cannot_be_had_is_no_failed_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(run: Any, replay: bool) -> Any:
        raise TypeError("a mistake in a plugin")

    monkeypatch.setattr(checkpoint, "run_in_training", fails)
    with (
        made(tmp_path, "checkpoint:every=8") as agent,
        pytest.raises(TypeError, match="a mistake in a plugin"),
    ):
        agent.learn(20)


@pytest.mark.parametrize("backend", ["dummy", "subprocess"])
def test_a_setting_that_is_changed_on_resume_applies(backend: str, tmp_path: Path) -> None:
    with made(tmp_path, **{"vec_env": backend, "env.length": 500}) as agent:
        agent.learn(20)
        steps = agent.get_env().get_attr("steps")
    agent, differs = resumed(tmp_path / "checkpoints" / "20.zip", WALK, **{"env.length": 3})
    with agent:
        assert differs == []
        assert agent.get_env().get_attr("length") == (3,)
        assert agent.get_env().get_attr("steps") == steps
