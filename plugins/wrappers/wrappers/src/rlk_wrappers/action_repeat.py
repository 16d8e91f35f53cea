"""`action-repeat`: every action is taken several times, and the rewards are added up."""

from __future__ import annotations

from typing import Any

import gymnasium as gym

from rlk_wrappers.config_steps import ActionRepeatConfig


class ActionRepeat(gym.Wrapper[Any, Any, Any, Any]):
    """One step is `repeat` steps of the environment with the same action, or fewer at an end.

    The reward is their sum; observation and info are those of the last step. A time limit inside
    counts the environment's own steps.

    Attributes:
        rlk_action_repeat: how many environment steps are one step, for wrappers outside of this
            one.
    """

    def __init__(self, env: gym.Env[Any, Any], config: ActionRepeatConfig | None = None) -> None:
        super().__init__(env)
        self.rlk_action_repeat = (config or ActionRepeatConfig()).repeat

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        total = 0.0
        for _ in range(self.rlk_action_repeat):
            observation, reward, terminated, truncated, info = self.env.step(action)
            total += float(reward)
            if terminated or truncated:
                break
        return observation, total, terminated, truncated, info
