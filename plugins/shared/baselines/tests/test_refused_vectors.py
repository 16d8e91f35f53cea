"""Mistakes in making vectors are refused where they are made, in words that say what to write."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError, RlkError
from rlk_baselines import A2C, gym
from rlk_baselines.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecFrameStack,
    VecNormalize,
)
from rlk_sb3.common import vec_env as sb3


@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_one_function_instead_of_a_list_of_functions_is_refused(kind) -> None:
    with pytest.raises(PlanError, match=r"env_fns is function, .*DummyVecEnv\(\[env_fn\]\)"):
        kind(lambda: gym.make("CartPole-v1"))


@pytest.mark.parametrize("kind", [DummyVecEnv, SubprocVecEnv])
def test_an_environment_instead_of_a_list_of_functions_is_refused(kind) -> None:
    with pytest.raises(PlanError, match=r"DummyVecEnv\(\[lambda: env\]\)"):
        kind(gym.make("CartPole-v1"))


@pytest.mark.parametrize("make", [gym.make, gymnasium.make, str])
@pytest.mark.parametrize(
    "wrap",
    [
        VecNormalize,
        VecCheckNan,
        lambda env: VecFrameStack(env, 2),
        sb3.VecMonitor,
        lambda env: sb3.VecFrameStack(env, 2),
    ],
)
def test_a_wrapper_of_vectors_refuses_a_single_environment(wrap, make) -> None:
    with pytest.raises(PlanError, match=r"wraps a vector .* \w+\(DummyVecEnv\(\[lambda: env\]\)\)"):
        wrap(make("CartPole-v1"))


@pytest.mark.parametrize("space", [spaces.Discrete(3), spaces.Dict({"a": spaces.Box(-1, 1, (2,))})])
def test_frames_that_are_no_box_are_refused(space, counting) -> None:
    vector = DummyVecEnv([counting])
    vector.observation_space = space
    with pytest.raises(
        PlanError, match=r"VecFrameStack takes a Box with axes, got (Discrete|Dict)"
    ):
        VecFrameStack(vector, 2)


@pytest.mark.parametrize(
    "keywords", [{"clip_obs": 0.0}, {"clip_reward": -1.0}, {"gamma": 3}, {"epsilon": -1e-8}]
)
def test_vec_normalize_refuses_a_number_out_of_its_range(keywords, counting) -> None:
    (name,) = keywords
    with pytest.raises(PlanError, match=f"VecNormalize: {name} must be"):
        VecNormalize(DummyVecEnv([counting]), **keywords)


def test_what_vec_normalize_has_not_seen_yet_is_refused(counting) -> None:
    vector = VecNormalize(DummyVecEnv([counting]))
    with pytest.raises(PlanError, match=r"no observation yet: call reset\(\)"):
        vector.get_original_obs()
    vector.reset()
    assert vector.get_original_obs().tolist() == [[0, 7]]
    with pytest.raises(PlanError, match=r"no reward yet: call step\(\)"):
        vector.get_original_reward()
    vector.step([1])
    assert vector.get_original_reward().shape == (1,)


@pytest.mark.parametrize("wrap", [lambda vector: vector, VecNormalize])
def test_errors_name_the_class_of_the_environments(wrap) -> None:
    class Wandering(gym.Env):
        observation_space = gym.spaces.Box(-1, 1, (2,))
        action_space = gym.spaces.Discrete(2)

        def reset(self):
            return np.zeros(2, np.float32)

        def step(self, action):
            return np.full(2, np.nan, np.float32), 0.0, False, {}

    model = A2C("MlpPolicy", wrap(DummyVecEnv([Wandering])))
    with pytest.raises(RlkError, match=r"environment 0 \(Wandering\) gave nan"):
        model.learn(8)
