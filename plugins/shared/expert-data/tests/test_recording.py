"""What a recording asks of the environments and of the model, and what it leaves behind."""

from __future__ import annotations

from pathlib import Path, PureWindowsPath
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium import spaces

import rlk
from rlk.errors import PlanError
from rlk_expert_data import generate_expert_traj, read
from rlk_expert_data.images import located, read_images, writing_images


class Steps(gym.Env[Any, Any]):
    """Shows its random number of the episode; an episode has two steps."""

    closed = 0

    def __init__(self) -> None:
        self.observation_space = spaces.Box(0.0, 1.0, (1,), np.float64)
        self.action_space = spaces.Box(-9.0, 9.0, (1,), np.float64)
        self.resets = 0

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        super().reset(seed=seed)
        self.resets, self.steps = self.resets + 1, 0
        self.number = self.np_random.random(1)
        return self.number, {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        return self.number, 0.0, self.steps == 2, False, {}

    def close(self) -> None:
        Steps.closed += 1


class Counts:
    """A model whose action is its number of steps, in an array that it uses again."""

    def __init__(self) -> None:
        self.action = np.zeros((1, 1))
        self.begun: list[bool] = []
        self.states: list[Any] = []

    def predict(self, observation: Any, state: Any, mask: Any, deterministic: bool) -> Any:
        self.begun += mask.tolist()
        self.states.append(state)
        self.action += 1.0
        return self.action, len(self.states)


def test_a_model_is_given_its_state_and_where_episodes_begin() -> None:
    model = Counts()
    found = generate_expert_traj(model, env=Steps(), n_episodes=2)
    assert model.states == [None, 1, 2, 3]
    assert model.begun == [True, False, True, False]
    assert found["actions"].tolist() == [[1.0], [2.0], [3.0], [4.0]]


def test_a_seed_is_that_of_the_first_episode_alone() -> None:
    obs = generate_expert_traj(lambda seen: seen, env=Steps(), n_episodes=3, seed=5)["obs"]
    assert obs[0] == np.random.default_rng(5).random(1)
    assert len(np.unique(obs)) == 3


def test_a_file_may_be_named_from_the_users_home_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    generate_expert_traj(lambda seen: seen, "~/mine/expert", env=Steps(), n_episodes=3)
    assert (tmp_path / "mine" / "expert.npz").is_file()
    assert len(read("~/mine/expert").returns) == 3


def test_environments_made_for_a_recording_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    gym.register("test/Steps-v0", entry_point=Steps)
    try:
        monkeypatch.setattr(Steps, "closed", 0)
        generate_expert_traj(lambda seen: seen, env="test/Steps-v0", n_episodes=1)
        assert Steps.closed == 1
        generate_expert_traj(lambda seen: seen, env=Steps(), n_episodes=1)
        assert Steps.closed == 1, "one that was passed stays open"
    finally:
        del gym.registry["test/Steps-v0"]


def test_an_expert_of_more_timesteps_is_recorded_in_other_episodes() -> None:
    with rlk.make("a2c", env="CartPole-v1", seed=0, n_threads=1, preset="none") as agent:
        first, again = (generate_expert_traj(agent, n_episodes=1)["obs"][0] for _ in range(2))
        # The second call of `learn` counts timesteps from 0 again.
        later = [
            generate_expert_traj(agent, n_timesteps=5, n_episodes=1)["obs"][0] for _ in range(2)
        ]
    assert np.array_equal(first, again)
    assert len(np.unique([first, *later], axis=0)) == 3


class Choices(Steps):
    def __init__(self) -> None:
        super().__init__()
        self.action_space = spaces.MultiBinary(2)


@pytest.mark.parametrize(
    ("env", "arguments", "problem"),
    [
        (Steps, {"env": "CartPole-v7"}, "CartPole-v7"),
        (Steps, {"save_path": ""}, "is a folder"),
        (Choices, {}, "action_space is MultiBinary"),
        (Steps, {"env": Choices()}, "action_space is MultiBinary"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_the_expert_is_trained(
    env: type[Steps], arguments: dict[str, Any], problem: str
) -> None:
    with rlk.make("a2c", env=env, n_threads=1, preset="none") as agent:
        with pytest.raises(PlanError, match=problem):
            generate_expert_traj(agent, n_timesteps=5, n_episodes=1, **arguments)
        assert agent.num_timesteps == 0


def test_an_expert_is_recorded_in_environments_that_plugins_prepare_as_for_an_evaluation() -> None:
    class Levels(Steps):
        level = 0

        def reset(self, **_: Any) -> Any:
            self.steps, self.number = 0, np.array([self.level / 10])
            return self.number, {}

    class Hardest:
        @rlk.hookimpl
        def rlk_prepare_evaluation(self, env: Any) -> None:
            env.set_attr("level", 5)

    for env, observed in ((Levels, 0.5), (Levels(), 0.0)):  # the object is that of training
        with rlk.make("a2c", env=env, n_threads=1, preset="none", plugins=[Hardest()]) as agent:
            assert set(generate_expert_traj(agent, n_episodes=1)["obs"].ravel()) == {observed}


def test_training_begins_with_a_reset_after_a_recording_in_the_same_environment() -> None:
    env = Steps()
    with rlk.make("a2c", env=env, seed=0, n_threads=1, n_steps=3, preset="none") as agent:
        agent.learn(3)
        generate_expert_traj(agent, n_episodes=1)
        before = env.resets
        agent.learn(3, reset_num_timesteps=False)
        # One at the beginning, and one after the episode of two steps.
        assert env.resets == before + 2


class Pictures(Steps):
    def __init__(self) -> None:
        super().__init__()
        self.observation_space = spaces.Box(0, 255, (2, 2, 1), np.uint8)

    def reset(self, **_: Any) -> Any:
        self.steps = 0
        return self._seen(), {}

    def step(self, action: Any) -> Any:
        return self._seen(), *super().step(action)[1:]

    def _seen(self) -> Any:
        self.number = np.zeros(1)
        return np.zeros((2, 2, 1), np.uint8)


def acts(observation: Any) -> Any:
    return np.zeros(1)


def test_paths_of_images_are_written_as_every_system_reads_them(tmp_path: Path) -> None:
    typed: Any = PureWindowsPath("shown\\today")
    images = {"obs": np.zeros((1, 2, 2, 3), np.uint8)}
    with writing_images(images, typed, tmp_path / "expert.npz") as paths:
        assert paths["obs"].tolist() == ["shown/today/expert-0.png"]
        assert read_images(located(paths["obs"], tmp_path)).shape == (1, 2, 2, 3)


def test_images_of_another_folder_or_name_are_not_deleted_with_a_file(tmp_path: Path) -> None:
    path = tmp_path / "expert"
    generate_expert_traj(acts, path, Pictures(), n_episodes=1, image_folder="first")
    (tmp_path / "second").mkdir()
    (tmp_path / "second" / "expert-0.png").write_bytes(b"of another file")
    generate_expert_traj(acts, path, Pictures(), n_episodes=1, image_folder="second")
    assert len(list((tmp_path / "first").iterdir())) == 3
    assert (tmp_path / "second" / "expert-0.png").read_bytes() == b"of another file"

    (tmp_path / "second" / "mine.png").write_bytes(b"of the user's own")
    with np.load(path.with_suffix(".npz")) as file:
        arrays = dict(file)
    np.savez(path, **{**arrays, "obs": np.array(["second/mine.png"] * 2)})
    generate_expert_traj(acts, path, Pictures(), n_episodes=1, image_folder="second")
    assert (tmp_path / "second" / "mine.png").read_bytes() == b"of the user's own"
