"""`evaluate_policy` of both libraries, with models that note how they are asked."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from rlk.errors import RlkError
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.vec_env import DummyVecEnv


class Asked:
    """Acts by 0. Its state is the number of steps since it was given none."""

    def __init__(self) -> None:
        self.states: list[Any] = []
        self.modes: list[bool] = []

    def predict(self, observation: Any, state: Any, deterministic: bool) -> tuple[Any, Any]:
        self.states.append(state)
        self.modes.append(deterministic)
        action = np.zeros(len(observation), int) if np.ndim(observation) == 2 else 0
        return action, (state or 0) + 1


@pytest.fixture
def longer(counting: Any) -> type[Any]:
    class Longer(counting):  # type: ignore[misc]
        """Its episodes have 1, 2, 3 … steps."""

        shown = 0

        def reset(self) -> Any:
            self.length = getattr(self, "episodes", 0) + 1
            self.episodes = self.length
            return super().reset()

        def render(self, mode: str = "human") -> Any:
            Longer.shown += 1
            return super().render(mode)

    return Longer


@pytest.mark.parametrize("is_vector", [False, True])
def test_returns_and_lengths_are_of_whole_episodes(longer: Any, is_vector: bool) -> None:
    def env() -> Any:
        return DummyVecEnv([longer]) if is_vector else longer()

    mean, std = evaluate_policy(Asked(), env(), 3)
    assert mean == 2.0 and std == pytest.approx(np.sqrt(2 / 3)), "of 1, 2 and 3"
    found = evaluate_policy(Asked(), env(), 3, return_episode_rewards=True)
    assert found == ([1.0, 2.0, 3.0], [1, 2, 3])


@pytest.mark.parametrize("is_vector", [False, True])
def test_a_state_is_handed_on_within_an_episode(longer: Any, is_vector: bool) -> None:
    model, env = Asked(), DummyVecEnv([longer]) if is_vector else longer()
    evaluate_policy(model, env, 3, deterministic=False)
    assert model.states == [None, None, 1, None, 1, 2]
    assert model.modes == [False] * 6
    evaluate_policy(model, env, 1)
    assert model.modes[6:] == [True] * len(model.modes[6:])


def test_a_threshold_has_to_be_exceeded(longer: Any) -> None:
    assert evaluate_policy(Asked(), longer(), 3, reward_threshold=1.99)[0] == 2.0
    with pytest.raises(AssertionError, match=r"below threshold: 2\.00 < 2\.00"):
        evaluate_policy(Asked(), longer(), 3, reward_threshold=2.0)


def test_every_step_is_rendered_if_asked_and_told_to_the_callback(longer: Any) -> None:
    told: list[Any] = []

    def see(locals_: Any, _: Any) -> None:
        told.append((locals_["episode_reward"], locals_["episode_length"], locals_["done"]))

    evaluate_policy(Asked(), longer(), 2, render=True, callback=see)
    assert longer.shown == 3
    assert told == [(1.0, 0, True), (1.0, 0, False), (2.0, 1, True)]
    evaluate_policy(Asked(), longer(), 2)
    assert longer.shown == 3


def test_an_evaluation_needs_an_environment() -> None:
    with pytest.raises(RlkError, match="needs an environment, got None"):
        evaluate_policy(Asked(), None)


# ---- Stable-Baselines3 ---------------------------------------------------------------------------


def test_a_vector_of_gymnasium_may_have_one_environment_but_not_several() -> None:
    one, two = (
        gymnasium.make_vec("CartPole-v1", num_envs=n, vectorization_mode="sync") for n in (1, 2)
    )
    assert evaluate_policy(Asked(), one, 1)[0] > 0
    with pytest.raises(AssertionError, match="evaluate_policy takes one environment, got 2"):
        evaluate_policy(Asked(), two, 1)
