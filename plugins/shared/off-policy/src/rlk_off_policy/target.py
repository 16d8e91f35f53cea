"""Target networks: a copy of the policy that follows it, slowly or from time to time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlk.protocols import Parameters


class Target:
    """A copy of the policy with flat parameters of its own, outside autograd.

    Args:
        parameters: of the policy.
        prefixes: names of the submodules that follow, a contiguous range; None is all of them.

    Attributes:
        module: the copy, to be called as the policy is.
        flat: float [P], the parameters that follow.
    """

    def __init__(self, parameters: Parameters, prefixes: Iterable[str] | None = None) -> None:
        names = None if prefixes is None else tuple(prefixes)
        self._copy = parameters.clone()
        self.module: Any = self._copy.module
        self.flat = self._copy.select(names)[1]
        self._online = parameters.select(names)[1]

    def polyak(self, tau: float) -> None:
        """target += tau (online - target), in one call; DDPG, Lillicrap et al. 2016."""
        self.flat.lerp_(self._online, tau)

    def copy(self) -> None:
        """target = online; DQN, Mnih et al. 2015."""
        self.flat.copy_(self._online)
