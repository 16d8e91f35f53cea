"""Environments in which the right action equals the observation: any algorithm must learn them.

The reward is 1 if the action equals the observation, else 0; then a new observation is drawn. The
best return is `ep_length`.
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces


class IdentityEnv(gym.Env[Any, Any]):
    """Observations and actions are numbers from 0 to `dim - 1`, or samples of a `space`.

    Args:
        dim: how many numbers there are (1 if not given); not to be given with `space`.
        space: the space of observations and actions.
        ep_length: steps until an episode is truncated.
    """

    def __init__(
        self,
        dim: int | None = None,
        space: spaces.Space[Any] | None = None,
        ep_length: int = 100,
    ) -> None:
        if dim is not None and space is not None:
            raise ValueError("dim and space both define the observations; give one of them")
        if ep_length < 1:
            raise ValueError(f"ep_length must be 1 or more, got {ep_length}")
        self.observation_space = space or spaces.Discrete(1 if dim is None else dim)
        self.action_space = self.observation_space
        self.ep_length = ep_length
        self.current_step = 0
        self.state: Any = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Draw an observation."""
        super().reset(seed=seed)
        self.current_step = 0
        self.state = self._draw()
        return self.state, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The reward is 1 if the action equals the observation, else 0."""
        reward = float(self._is_right(action))
        self.state = self._draw()
        self.current_step += 1
        return self.state, reward, False, self.current_step >= self.ep_length, {}

    def _is_right(self, action: Any) -> bool:
        return bool(np.all(np.asarray(action) == self.state))

    def _draw(self) -> Any:
        """A sample of the space, drawn with the environment's own random generator."""
        space = self.observation_space
        if isinstance(space, spaces.Discrete):
            return np.int64(space.start + self.np_random.integers(space.n))
        if isinstance(space, spaces.MultiDiscrete):
            return self.np_random.integers(space.nvec).astype(space.dtype)
        if isinstance(space, spaces.MultiBinary):
            return self.np_random.integers(0, 2, space.shape, dtype=np.int8)
        if isinstance(space, spaces.Box):
            return self.np_random.uniform(space.low, space.high).astype(space.dtype)
        raise ValueError(f"an identity environment cannot have the space {space}")


class IdentityEnvBox(IdentityEnv):
    """The observation is a number from `low` to `high`; an action within `eps` of it is right."""

    def __init__(
        self, low: float = -1.0, high: float = 1.0, eps: float = 0.05, ep_length: int = 100
    ) -> None:
        self.eps = eps
        super().__init__(space=spaces.Box(low, high, (1,), np.float32), ep_length=ep_length)

    def _is_right(self, action: Any) -> bool:
        return bool(np.all(np.abs(np.asarray(action) - self.state) <= self.eps))


class IdentityEnvMultiDiscrete(IdentityEnv):
    """Two numbers from 0 to `dim - 1`."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        super().__init__(space=spaces.MultiDiscrete([dim, dim]), ep_length=ep_length)


class IdentityEnvMultiBinary(IdentityEnv):
    """`dim` bits."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        super().__init__(space=spaces.MultiBinary(dim), ep_length=ep_length)
