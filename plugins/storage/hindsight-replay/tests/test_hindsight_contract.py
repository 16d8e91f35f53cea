"""The kernel's contract of a decorating storage, on observations with goals."""

from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.spaces import map_observation
from rlk_testing import DecoratorContract
from rlk_testing.contracts.storage.trajectory import Trajectory, at, equal

PLACE = gym.spaces.Box(-1e6, 1e6, (2,), np.float32)
SPACE = gym.spaces.Dict({"achieved_goal": PLACE, "desired_goal": PLACE, "observation": PLACE})


class World:
    """The part of a goal environment that hindsight asks."""

    def get_wrapper_attr(self, name: str) -> Any:
        return getattr(self, name)

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        return -np.abs(achieved_goal - desired_goal).sum(-1)


class GoalTrajectory(Trajectory):
    make_env = World


class Hindsight(DecoratorContract):
    component = "hindsight-replay"

    def trajectory(self, **keywords: Any) -> Trajectory:
        return GoalTrajectory(SPACE, gym.spaces.Discrete(4), **keywords)

    def check(self, batch: Any, kept: list[Any]) -> None:
        """All but the goal is as it was stored, and the goal is one, or was reached."""
        observed = map_observation(np.asarray, batch.observation)
        goals = [seen.observation["desired_goal"] for seen in kept]
        goals += [seen.next_observation["achieved_goal"] for seen in kept]
        for row in range(len(batch.action)):
            one, action = at(observed, row), batch.action[row].numpy()
            wish = one.pop("desired_goal")
            assert any(equal(wish, goal) for goal in goals)
            assert any(
                all(equal(one[key], seen.observation[key]) for key in one)
                and equal(action, seen.action)
                for seen in kept
            )


class TestFuture(Hindsight):
    pass


class TestEpisode(Hindsight):
    settings = {"goal_selection_strategy": "episode", "n_sampled_goal": 1}


class TestOffline(Hindsight):
    settings = {"goal_selection_strategy": "episode", "online_sampling": False}


class TestRandom(Hindsight):
    settings = {"goal_selection_strategy": "random", "n_sampled_goal": 20}


@pytest.mark.parametrize("wrong", [{"n_sampled_goal": 0}, {"goal_selection_strategy": "past"}])
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, Any]) -> None:
    from rlk_hindsight_replay.config import HindsightReplayConfig

    with pytest.raises(ValueError, match=next(iter(wrong))):
        HindsightReplayConfig(**wrong)
