"""Stands for the goal environment of a model that was loaded to act alone."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlk.records import Array
from rlk_baselines.refusals import Refused


class AwaitedGoals(gymnasium.Env[Any, Any]):
    """Has the spaces of the environment, and refuses to be played.

    Args:
        observation_space, action_space: of the environment.
    """

    def __init__(self, observation_space: Any, action_space: Any) -> None:
        self.observation_space, self.action_space = observation_space, action_space

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        raise self.refusal()

    def step(self, action: Any) -> Any:
        raise self.refusal()

    def compute_reward(self, achieved_goal: Array, desired_goal: Any, info: Any) -> Array:
        """Nothing: it is only asked for whether there are rewards."""
        return np.zeros(np.shape(achieved_goal)[:-1])

    @staticmethod
    def refusal() -> Refused:
        """What is raised where it would be played."""
        return Refused(
            "this HER was loaded without an environment, which suffices to predict for rows of a "
            "HERGoalEnvWrapper. Pass one to learn: HER.load(path, env=env), or model.set_env(env)."
        )
