"""`HindsightExperienceReplayWrapper`: which goals transitions get, on a line of places."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from rlk_baselines.common.buffers import ReplayBuffer
from rlk_baselines.her import HERGoalEnvWrapper, HindsightExperienceReplayWrapper

#: Of every step before hindsight; nobody reaches it.
FAR = 50.0
PLACE = gymnasium.spaces.Box(-100.0, 100.0, (1,), np.float32)


class Line(gymnasium.Env[Any, Any]):
    """Step t leads from place t to place t + 1; the reward is 0 at the goal, else -1."""

    action_space = PLACE
    observation_space = gymnasium.spaces.Dict(
        observation=PLACE, achieved_goal=PLACE, desired_goal=PLACE
    )

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> float:
        return 0.0 if achieved_goal[0] == desired_goal[0] else -1.0


def relabelled(strategy: str, buffer_size: int = 10_000) -> list[tuple[float, float, float]]:
    """(place, goal, reward) of all copies, after 100 episodes: at 0 to 3, and at 10 to 13."""
    np.random.seed(0)
    env = HERGoalEnvWrapper(Line())
    buffer = ReplayBuffer(buffer_size)
    wrapper = HindsightExperienceReplayWrapper(buffer, 4, strategy, env)

    def at(place: float) -> Any:
        part = np.array([place])
        return env.convert_dict_to_obs(
            {"observation": part, "achieved_goal": part, "desired_goal": np.array([FAR])}
        )

    for episode in range(100):
        for step in range(3):
            place = 10.0 * (episode % 2) + step
            wrapper.add(at(place), np.zeros(1), -1.0, at(place + 1), step == 2, {})
    found = [(float(row[0][0]), float(row[0][2]), row[2]) for row in buffer.storage]
    return [one for one in found if one[1] != FAR]


def goals_at(place: float, strategy: str) -> set[float]:
    return {goal for where, goal, _ in relabelled(strategy) if where == place}


def test_goals_of_the_future_begin_with_the_place_that_a_step_leads_to() -> None:
    assert goals_at(0.0, "future") == {1.0, 2.0}
    assert goals_at(1.0, "future") == {2.0}
    assert goals_at(2.0, "future") == set(), "no transition follows the last one"


@pytest.mark.parametrize(
    ("strategy", "goals"),
    [
        ("final", {2.0}),
        ("episode", {0.0, 1.0, 2.0}),
        ("random", {0.0, 1.0, 2.0, 10.0, 11.0, 12.0}),
    ],
)
def test_goals_are_the_places_that_transitions_started_from(
    strategy: str, goals: set[float]
) -> None:
    for place in (0.0, 1.0, 2.0):
        assert goals_at(place, strategy) == goals


def test_a_copy_that_leads_to_its_goal_has_the_reward_of_success() -> None:
    rewards = {(place, goal): reward for place, goal, reward in relabelled("future")}
    expected = {(0.0, 1.0): 0.0, (0.0, 2.0): -1.0, (1.0, 2.0): 0.0}
    assert {key: value for key, value in rewards.items() if key[0] < 10.0} == expected


def test_random_goals_are_those_of_the_buffer_alone() -> None:
    goals = {goal for _, goal, _ in relabelled("random", buffer_size=8)}
    assert goals and goals <= {10.0, 11.0, 12.0}, "older places were overwritten"
