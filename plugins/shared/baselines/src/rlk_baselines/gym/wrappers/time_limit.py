"""`TimeLimit`, with gym's interface."""

from __future__ import annotations

import copy
from typing import Any

from rlk_baselines.environments.five_values import TRUNCATED
from rlk_baselines.gym.core import Wrapper


class TimeLimit(Wrapper):
    """Ends episodes after `max_episode_steps` steps, with `TimeLimit.truncated` in the last info.

    Args:
        env: the environment.
        max_episode_steps: the limit; None means that of the environment's registration, if any.
    """

    def __init__(self, env: Any, max_episode_steps: int | None = None) -> None:
        super().__init__(env)
        said = getattr(getattr(env, "spec", None), "max_episode_steps", None)
        self._max_episode_steps = max_episode_steps or said
        self._elapsed_steps = 0

    @property
    def spec(self) -> Any:  # type: ignore[override]
        """The registration of the environment, with this limit."""
        said = copy.copy(super().spec)
        if said is not None:
            said.max_episode_steps = self._max_episode_steps
        return said

    def step(self, action: Any) -> Any:
        observation, reward, done, info = self.env.step(action)  # type: ignore[misc]
        self._elapsed_steps += 1
        if self._max_episode_steps is not None and self._elapsed_steps >= self._max_episode_steps:
            info = {TRUNCATED: not done, **info}  # an inner time limit may have set it already
            done = True
        return observation, reward, done, info

    def reset(self, **kwargs: Any) -> Any:
        self._elapsed_steps = 0
        return self.env.reset(**kwargs)
