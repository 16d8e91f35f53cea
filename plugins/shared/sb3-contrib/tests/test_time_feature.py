"""The remaining part of an episode, as an observation of one environment."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from rlk_baselines.refusals import Refused
from rlk_sb3 import A2C
from rlk_sb3_contrib.common.wrappers import TimeFeatureWrapper
from rlk_testing.environments import Walk


def steps(env: Any, count: int) -> list[Any]:
    """The first observation of an episode, and those of so many steps."""
    return [env.reset(seed=1)[0], *(env.step(env.action_space.sample())[0] for _ in range(count))]


def test_the_feature_falls_from_one_to_zero_at_the_limit_of_the_environment() -> None:
    env = TimeFeatureWrapper(gymnasium.make("Pendulum-v1"))
    assert env.observation_space.shape == (4,)
    seen = steps(env, 200)
    assert all(one in env.observation_space for one in seen)
    assert [seen[i][3] for i in (0, 50, 200)] == [1.0, 0.75, 0.0]
    np.testing.assert_array_equal(seen[0][:3], gymnasium.make("Pendulum-v1").reset(seed=1)[0])
    assert env.reset()[0][3] == 1.0


def test_without_a_limit_it_is_max_steps_and_in_test_mode_always_one() -> None:
    assert [one[-1] for one in steps(TimeFeatureWrapper(Walk(), max_steps=4), 2)] == [
        1,
        0.75,
        0.5,
    ]
    assert [one[-1] for one in steps(TimeFeatureWrapper(Walk(), test_mode=True), 2)] == [1, 1, 1]


def test_after_max_steps_it_stays_zero() -> None:
    env = TimeFeatureWrapper(Walk(length=9), max_steps=2)
    assert [one[-1] for one in steps(env, 4)] == [1, 0.5, 0, 0, 0]


def test_a_model_learns_in_it() -> None:
    model = A2C("MlpPolicy", TimeFeatureWrapper(gymnasium.make("CartPole-v1"))).learn(10)
    assert model.observation_space.shape == (5,)


def test_images_are_refused() -> None:
    with pytest.raises(
        Refused, match="TimeFeatureWrapper takes observations that are a Box of one"
    ):
        TimeFeatureWrapper(Walk(observation="image"))
