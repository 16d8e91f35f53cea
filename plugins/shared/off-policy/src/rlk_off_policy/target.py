"""Target networks: a copy of the policy that follows it, slowly or from time to time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rlk.protocols import Parameters, State


class Target:
    """A copy of the policy with its own flat parameters, outside autograd.

    Args:
        parameters: of the policy.
        prefixes: names of the submodules that follow, a contiguous range; None is all of them.

    Attributes:
        module: the copy, called like the policy.
        flat: float [P], the parameters that follow.
    """

    def __init__(self, parameters: Parameters, prefixes: Iterable[str] | None = None) -> None:
        submodules = None if prefixes is None else tuple(prefixes)
        self._copy = parameters.clone()
        self.module: Any = self._copy.module
        following, self.flat = self._copy.select(submodules)
        self._online = parameters.select(submodules)[1]
        ids = {id(parameter) for parameter in following}
        every = zip(self._copy.names, self._copy.select()[0], strict=True)
        self._names = [name for name, parameter in every if id(parameter) in ids]

    def polyak(self, tau: float) -> None:
        """target += tau (online - target), in one call; DDPG, Lillicrap et al. 2016.

        With tau 1 it is a copy, bit for bit; DQN, Mnih et al. 2015.
        """
        self.flat.lerp_(self._online, tau)

    def state_dict(self) -> State:
        """name -> a copy of that parameter, for those that follow."""
        values = self._copy.state_dict()
        return {name: values[name] for name in self._names}

    def load_state_dict(self, state: State) -> None:
        """Load values in place.

        Raises:
            RlkError: for names or shapes that do not fit; then nothing changes.
        """
        others = {k: v for k, v in self._copy.state_dict().items() if k not in self._names}
        self._copy.load_state_dict({**others, **state})
