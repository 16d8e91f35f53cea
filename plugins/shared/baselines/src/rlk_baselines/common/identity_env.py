"""Environments in which the right action is what is seen, with gym's interface."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk_baselines.gym.making import FourValuesEnv
from rlk_toy_environments import identity


class IdentityEnv(FourValuesEnv):
    """Numbers from 0 to `dim - 1`, or any `space`; the reward is 1 for the observation as action.

    Args:
        dim: how many numbers there are.
        space: of observations and actions, instead.
        ep_length: steps of an episode.
    """

    def __init__(
        self, dim: int | None = None, space: spaces.Space[Any] | None = None, ep_length: int = 100
    ) -> None:
        super().__init__(
            identity.IdentityEnv(1 if dim is None and space is None else dim, space, ep_length)
        )


class IdentityEnvBox(FourValuesEnv):
    """A number from `low` to `high`; the reward is 1 for an action within `eps` of it."""

    def __init__(
        self, low: float = -1, high: float = 1, eps: float = 0.05, ep_length: int = 100
    ) -> None:
        super().__init__(identity.IdentityEnvBox(low=low, high=high, eps=eps, ep_length=ep_length))


class IdentityEnvMultiDiscrete(FourValuesEnv):
    """Two numbers from 0 to `dim - 1`."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        space = spaces.MultiDiscrete([dim, dim])
        super().__init__(identity.IdentityEnv(space=space, ep_length=ep_length))


class IdentityEnvMultiBinary(FourValuesEnv):
    """`dim` bits."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        super().__init__(identity.IdentityEnv(space=spaces.MultiBinary(dim), ep_length=ep_length))
