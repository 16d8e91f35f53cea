"""Environments and vectors that programs for Stable-Baselines3 define themselves."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import RlkError
from rlk_baselines import gym
from rlk_baselines.common.evaluation import evaluate_policy as evaluate_policy_of_210
from rlk_baselines.environments import five_values
from rlk_sb3 import A2C, PPO, SAC
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.evaluation import evaluate_policy
from rlk_sb3.common.monitor import Monitor
from rlk_sb3.common.vec_env import DummyVecEnv, VecEnv, VecMonitor, VecNormalize

SMALL: dict[str, Any] = {"n_steps": 16, "batch_size": 16, "n_epochs": 1}


class Six(gymnasium.Env[Any, Any]):
    """Its episodes end after six steps; its `reset` takes a seed, but no options.

    Args:
        limit: a number of steps after which episodes are truncated.
    """

    observation_space = spaces.Box(0, 6, (2,))
    action_space = spaces.Discrete(2)

    def __init__(self, limit: int = 9) -> None:
        self.limit = limit

    def reset(self, seed: int | None = None) -> Any:  # type: ignore[override]
        super().reset(seed=seed)
        self.t = 0
        return np.zeros(2, np.float32), {}

    def step(self, action: Any) -> Any:
        self.t += 1
        return np.full(2, self.t, np.float32), 1.0, self.t == 6, self.t == self.limit, {}


def test_reset_of_an_environment_needs_to_take_no_options() -> None:
    model = PPO("MlpPolicy", Six(), seed=0, **SMALL).learn(16)
    assert evaluate_policy(model, Six(), n_eval_episodes=2) == (6.0, 0.0)
    assert make_vec_env(Six, n_envs=2, seed=0).reset().tolist() == [[0, 0], [0, 0]]


def test_a_vector_is_made_of_environments_with_gyms_interface() -> None:
    class Old(gym.Env):
        observation_space, action_space = Six.observation_space, Six.action_space

        def reset(self) -> Any:
            self.t = 0
            return np.zeros(2, np.float32)

        def step(self, action: Any) -> Any:
            self.t += 1
            return np.full(2, self.t, np.float32), 1.0, self.t == 6, {}

    env = make_vec_env(Old, n_envs=2, seed=0)
    model = PPO("MlpPolicy", env, **SMALL).learn(32)
    assert [one["l"] for one in model.ep_info_buffer] == [6] * 4 and env.get_attr("t") == [4, 4]
    assert env.env_is_wrapped(Monitor) == [True, True]


class There:
    """A vector of two environments with the methods of Stable-Baselines3's `VecEnv`."""

    num_envs, metadata = 2, {"render_modes": []}
    observation_space, action_space = Six.observation_space, Six.action_space

    def __init__(self) -> None:
        self.own = DummyVecEnv([Six] * 2)

    def reset(self) -> Any:
        return self.own.reset()

    def step(self, actions: Any) -> Any:
        self.step_async(actions)
        return self.step_wait()

    def step_async(self, actions: Any) -> None:
        self.own.step_async(actions)

    def step_wait(self) -> Any:
        return self.own.step_wait()

    def close(self) -> None: ...

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return self.own.get_attr(attr_name, indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None: ...

    def env_method(self, method_name: str, *args: Any, indices: Any = None) -> list[Any]:
        return self.own.env_method(method_name, *args, indices=indices)

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False, False]

    def seed(self, seed: int | None = None) -> list[Any]:
        return self.own.seed(seed)

    def getattr_depth_check(self, name: str, already_found: bool) -> None: ...


@pytest.mark.parametrize("wrap", [lambda env: env, VecMonitor, VecNormalize])
def test_a_model_learns_from_a_vector_of_the_other_library(wrap: Any) -> None:
    env = wrap(There())
    model = PPO("MlpPolicy", env, seed=0, **SMALL).learn(32)
    assert model.get_env() is env and model.n_envs == 2
    assert [one["l"] for one in model.ep_info_buffer] == [6] * 4
    assert evaluate_policy(model, env, n_eval_episodes=2, warn=False)[1] == 0.0
    assert not isinstance(Six(), VecEnv)


@pytest.mark.parametrize("wrap", [DummyVecEnv, lambda made: VecMonitor(DummyVecEnv(made))])
def test_callbacks_see_how_an_episode_ended(wrap: Any) -> None:
    seen: list[tuple[Any, ...]] = []

    def see(variables: dict[str, Any], _: Any) -> None:
        for done, info in zip(variables["dones"], variables["infos"], strict=True):
            if done:
                last = info["terminal_observation"].tolist()
                seen.append((info["TimeLimit.truncated"], last))

    vector = wrap([Six, lambda: Six(limit=4)])
    PPO("MlpPolicy", vector, n_steps=6, batch_size=12).learn(12, callback=see)
    assert seen == [(True, [4, 4]), (False, [6, 6])]


class Custom(VecEnv):
    """Two environments, stepped by this class itself; an episode has three steps."""

    def __init__(self) -> None:
        super().__init__(2, spaces.Box(0, 9, (2,)), spaces.Discrete(2))
        self.resets: list[Any] = []

    def reset(self) -> Any:
        self.t = 0
        self.resets.append(self._seeds)
        return np.zeros((2, 2), np.float32)

    def step_async(self, actions: Any) -> None:
        self.t += 1

    def step_wait(self) -> Any:
        dones, seen = np.full(2, self.t % 3 == 0), np.full((2, 2), self.t % 3, np.float32)
        infos = [{"terminal_observation": np.full(2, 3, np.float32)}] * 2 if dones[0] else []
        return seen, np.ones(2, np.float32), dones, infos

    def close(self) -> None: ...

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in indices or range(2)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        raise NotImplementedError

    def env_method(self, *arguments: Any, **keywords: Any) -> list[Any]:
        raise NotImplementedError

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False for _ in indices or range(2)]


def test_a_vector_of_the_programs_own_needs_no_seed_and_says_itself_what_it_is_in() -> None:
    vector = Custom()
    assert vector.seed(3) == [3, 4]
    wrapped = VecNormalize(VecMonitor(vector), norm_reward=False)
    assert wrapped.env_is_wrapped(Monitor) == [False, False]
    assert wrapped.has_attr("resets") and not wrapped.has_attr("others")
    model = PPO("MlpPolicy", wrapped, seed=5, **SMALL).learn(32)
    ((first, second),) = vector.resets
    assert second == first + 1
    assert [one["l"] for one in model.ep_info_buffer] == [3] * 10


@pytest.mark.parametrize("n_envs", [1, 2])
def test_render_without_a_mode_returns_the_frame_of_gymnasiums_environments(n_envs: int) -> None:
    vector = DummyVecEnv([lambda: gymnasium.make("CartPole-v1", render_mode="rgb_array")] * n_envs)
    vector.reset()
    frame = vector.render()
    assert frame.shape == (400 * n_envs, 600, 3) and frame.dtype == np.uint8
    np.testing.assert_array_equal(VecNormalize(vector).render(), vector.render(mode="rgb_array"))
    assert vector.render_mode == VecNormalize(vector).render_mode == "rgb_array"


def test_the_environments_of_a_loaded_model_return_their_frames_too(tmp_path: Path) -> None:
    PPO("MlpPolicy", "CartPole-v1", **SMALL).save(tmp_path / "model")
    vector: Any = PPO.load(tmp_path / "model").get_env()
    vector.reset()
    assert vector.render().shape == (400, 600, 3)


def test_environments_that_show_themselves_are_asked_to() -> None:
    class Shown(Six):
        metadata = {"render_modes": ["human"]}
        render_mode, frames = "human", 0

        def render(self) -> None:
            self.frames += 1

    vector = DummyVecEnv([Shown, Shown])
    vector.reset()
    assert vector.render() is None and vector.render("human") is None
    assert vector.get_attr("frames") == [2, 2]


def test_environments_with_gyms_interface_are_shown_by_render_without_a_mode() -> None:
    vector = DummyVecEnv([lambda: gym.make("CartPole-v1")])
    vector.reset()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # there may be no display
        assert vector.render() is None


def test_spaces_may_be_of_derived_classes() -> None:
    class Own(spaces.Box): ...

    class Walls(Six):
        observation_space, action_space = Own(0, 6, (2,)), Own(-1, 1, (1,))

    for kind, keywords in ((PPO, SMALL), (SAC, {"buffer_size": 300})):
        model = kind("MlpPolicy", Walls(), **keywords).learn(16)
        action, _ = model.predict(np.zeros(2, np.float32))
        assert action.shape == (1,) and type(model.action_space) is spaces.Box


@pytest.mark.parametrize("evaluate", [evaluate_policy, evaluate_policy_of_210])
def test_evaluations_show_frames_if_they_are_asked_to(
    evaluate: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Any] = []
    monkeypatch.setattr(five_values, "show", lambda frame: shown.append(frame.shape))
    env = DummyVecEnv([lambda: gymnasium.make("CartPole-v1", render_mode="rgb_array")])
    model = PPO("MlpPolicy", env, **SMALL)
    steps = evaluate(model, env, n_eval_episodes=1, render=True, return_episode_rewards=True)[1]
    assert shown == [(400, 600, 3)] * steps[0]


def test_environments_and_their_actions_are_seeded_from_the_start_index_on(tmp_path: Path) -> None:
    def first(**keywords: Any) -> tuple[Any, list[Any]]:
        env = make_vec_env("CartPole-v1", seed=5, **keywords)
        actions = [[one.action_space.sample() for _ in range(32)] for one in env.envs]
        return env.reset().tolist(), actions

    seen, actions = first(n_envs=3)
    assert first(n_envs=2, start_index=1) == (seen[1:], actions[1:])
    assert actions[0] != actions[1] and seen[0] != seen[1]


def test_monitors_get_their_keywords() -> None:
    env = make_vec_env(Six, monitor_kwargs={"info_keywords": ("TimeLimit.truncated",)})
    env.reset()
    with pytest.raises(RlkError, match=r"info_keywords names 'TimeLimit.truncated'"):
        for _ in range(6):
            env.step([0])


def test_a_monitor_takes_an_environment_with_gyms_interface(counting: Any) -> None:
    env = Monitor(counting(2))
    observation, info = env.reset(seed=3)
    assert observation.tolist() == [0, 7] and info == {} and env.unwrapped.seeds == [3]
    env.step(0)
    *_, terminated, truncated, info = env.step(1)
    assert (terminated, truncated, info["episode"]["l"]) == (True, False, 2)
    model = A2C("MlpPolicy", Monitor(counting(2)), n_steps=4).learn(8)
    assert [(one["r"], one["l"]) for one in model.ep_info_buffer] == [(2, 2)] * 4
    made = make_vec_env(counting, 1, monitor_kwargs={"info_keywords": ("steps",)})
    assert made.env_is_wrapped(Monitor) == [True], "all functions make the same class"
