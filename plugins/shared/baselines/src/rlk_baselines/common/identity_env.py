"""Environments in which the right action equals the observation, with gym's interface."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk_baselines.gym.making import GymView
from rlk_toy_environments import identity


class IdentityEnv(GymView):
    """The reward is 1 if the action equals the observation, else 0.

    Args:
        dim: observations and actions are 0 to `dim - 1`.
        space: another space of observations and actions, instead of `dim`.
        ep_length: steps per episode.
    """

    def __init__(
        self, dim: int | None = None, space: spaces.Space[Any] | None = None, ep_length: int = 100
    ) -> None:
        super().__init__(
            identity.IdentityEnv(1 if dim is None and space is None else dim, space, ep_length)
        )


class IdentityEnvBox(GymView):
    """Observes a number from `low` to `high`; an action within `eps` of it is rewarded with 1."""

    def __init__(
        self, low: float = -1, high: float = 1, eps: float = 0.05, ep_length: int = 100
    ) -> None:
        super().__init__(identity.IdentityEnvBox(low=low, high=high, eps=eps, ep_length=ep_length))


class IdentityEnvMultiDiscrete(GymView):
    """An `IdentityEnv` with two numbers from 0 to `dim - 1`."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        space = spaces.MultiDiscrete([dim, dim])
        super().__init__(identity.IdentityEnv(space=space, ep_length=ep_length))


class IdentityEnvMultiBinary(GymView):
    """An `IdentityEnv` with `dim` bits."""

    def __init__(self, dim: int = 1, ep_length: int = 100) -> None:
        super().__init__(identity.IdentityEnv(space=spaces.MultiBinary(dim), ep_length=ep_length))
