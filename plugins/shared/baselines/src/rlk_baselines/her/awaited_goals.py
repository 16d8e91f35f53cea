"""A placeholder for the goal environment of a model that was loaded without one."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlk.records import Array
from rlk_baselines.refusals import Refused


class AwaitedGoals(gymnasium.Env[Any, Any]):
    """Has the spaces of the environment, but raises an error at `reset` and `step`.

    Args:
        observation_space, action_space: of the environment.
        reason: why it was not made by its id; empty if the model's file has none.
    """

    def __init__(self, observation_space: Any, action_space: Any, reason: str) -> None:
        self.observation_space, self.action_space = observation_space, action_space
        self._reason = f" It was not made again: {reason}" if reason else ""

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        raise self.refusal()

    def step(self, action: Any) -> Any:
        raise self.refusal()

    def compute_reward(self, achieved_goal: Array, desired_goal: Any, info: Any) -> Array:
        """Zeros; the method only has to exist, because checks look for it."""
        return np.zeros(np.shape(achieved_goal)[:-1])

    def refusal(self) -> Refused:
        """The error of `reset` and `step`."""
        return Refused(
            "this HER was loaded without an environment, which suffices to predict for rows of a "
            f"HERGoalEnvWrapper.{self._reason} Pass one to learn: HER.load(path, env=env), or "
            "model.set_env(env)."
        )
