"""Environment classes of Gymnasium with gym's interface."""

from __future__ import annotations

import importlib
import pickle
import pkgutil
from typing import Any

import gymnasium
import numpy as np
import pytest
from rlk_baselines.gym.envs.classic_control import CartPoleEnv, PendulumEnv
from rlk_baselines.gym.envs.classic_control.pendulum import PendulumEnv as ByModule

from rlk_baselines import PPO2, gym
from rlk_baselines.common.env_checker import check_env
from rlk_baselines.common.vec_env import DummyVecEnv
from rlk_baselines.gym.envs.registration import EnvSpec
from rlk_baselines.gym.error import UnregisteredEnv
from rlk_baselines.gym.utils import colorize


class Slower(CartPoleEnv):
    """A program's own environment, which changes parts of gym's."""

    def __init__(self) -> None:
        super().__init__()
        self.force_mag = 5.0

    def step(self, action: Any) -> Any:
        observation, reward, done, info = super().step(action)
        return observation, reward / 2, done, {**info, "own": True}


def test_a_class_gives_what_gym_gave() -> None:
    env, there = CartPoleEnv(), gymnasium.make("CartPole-v1")
    assert env.seed(3) == [3]
    expected = there.reset(seed=3)[0]
    np.testing.assert_array_equal(env.reset(), expected)
    for _ in range(20):
        observation, reward, done, info = env.step(1)
        expected, _, terminated, _, _ = there.step(1)
        np.testing.assert_array_equal(observation, expected)
        assert (reward, done, info) == (1.0, terminated, {})
        if done:
            break
    assert done
    assert isinstance(env, gym.Env) and isinstance(env, type(there.unwrapped))
    assert env.metadata["render_modes"] == ["human", "rgb_array"]


def test_a_class_may_be_derived_from_registered_and_learnt_from() -> None:
    check_env(Slower())
    env = Slower()
    env.reset()
    _, reward, _, info = env.step(0)
    assert (reward, info, env.force_mag) == (0.5, {"own": True}, 5.0)
    gym.register("Slower-v0", entry_point=Slower, max_episode_steps=9)
    try:
        made = gym.make("Slower-v0")
        made.reset()
        steps = [made.step(i % 2) for i in range(9)]
        assert [step[1] for step in steps] == [0.5] * 9
        assert steps[-1][3]["TimeLimit.truncated"] and "own" in steps[-1][3]
    finally:
        del gymnasium.registry["Slower-v0"]
    model = PPO2("MlpPolicy", DummyVecEnv([Slower]), n_steps=16, nminibatches=1)
    assert model.learn(32).num_timesteps == 32
    assert pickle.loads(pickle.dumps(PendulumEnv(g=9.0))).g == 9.0


def test_names_beside_the_classes() -> None:
    with pytest.raises(AttributeError, match=r"classic_control' has no attribute 'rendering'"):
        _ = gym.envs.classic_control.rendering
    assert gym.envs.toy_text.FrozenLakeEnv(is_slippery=False).reset() == 0
    assert isinstance(gym.spec("CartPole-v1"), EnvSpec)
    assert "31m" in colorize("text", "red") and gym.error.UnregisteredEnv is UnregisteredEnv


def test_classes_and_functions_are_also_in_the_modules_that_gym_has_them_in() -> None:
    assert ByModule is PendulumEnv
    frozen_lake = gym.envs.toy_text.frozen_lake
    assert frozen_lake.FrozenLakeEnv is gym.envs.toy_text.FrozenLakeEnv
    assert len(frozen_lake.generate_random_map(size=5)) == 5
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = frozen_lake.nothing
    for package in ("box2d", "classic_control", "mujoco", "toy_text"):
        there = importlib.util.find_spec(f"gymnasium.envs.{package}").submodule_search_locations
        for module in pkgutil.iter_modules(there):
            path = f"rlk_baselines.gym.envs.{package}.{module.name}"
            assert importlib.import_module(path).__name__ == path
    with pytest.raises(ModuleNotFoundError, match=r"classic_control\.rendering"):
        importlib.import_module("rlk_baselines.gym.envs.classic_control.rendering")


@pytest.mark.parametrize(("length", "truncated"), [(2, False), (3, True)])
def test_an_episode_that_ends_by_itself_at_its_limit_is_not_truncated(
    counting: Any, length: int, truncated: bool
) -> None:
    env = gym.wrappers.TimeLimit(counting(length), 2)
    env.reset()
    assert env.step(0)[2] is False
    *_, done, info = env.step(0)
    assert done and info["TimeLimit.truncated"] is truncated
