"""The identity environments with masks: only a few of many actions are allowed at a time.

Without masks, an agent must find the right one among all actions; with masks, among the allowed
ones. The method `action_masks()` and the layout of its mask are those of sb3-contrib
(`rlk.spaces.choices_of`).
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array
from rlk.spaces import choices_of
from rlk_toy_environments.identity import IdentityEnv


class MaskedIdentityEnv(IdentityEnv):
    """Observations and actions are numbers from 0 to `dim - 1`, or samples of a countable `space`.

    Args:
        dim: how many numbers there are (32 if neither this nor `space` is given).
        space: the space of observations and actions.
        chance: the probability that a wrong option is allowed; the right one always is.
        refuse: whether a forbidden action raises ValueError; if not, it counts as a wrong one.
        ep_length: steps until an episode is truncated.
    """

    def __init__(
        self,
        dim: int | None = None,
        space: spaces.Space[Any] | None = None,
        chance: float = 0.1,
        refuse: bool = True,
        ep_length: int = 100,
    ) -> None:
        if not 0.0 <= chance <= 1.0:
            raise ValueError(f"chance must be from 0 to 1, got {chance}")
        super().__init__(32 if dim is None and space is None else dim, space, ep_length)
        self.chance, self.refuse = chance, refuse
        sizes, self._first = choices_of(self.action_space)
        self._offsets = np.array(list(accumulate(sizes, initial=0)))
        self._mask = np.ones(self._offsets[-1], np.bool_)

    def action_masks(self) -> Array:
        """Which options are allowed now, bool [M]."""
        return self._mask.copy()

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """The reward is 1 if the action equals the observation, else 0.

        Raises:
            ValueError: if the action is forbidden and `refuse` is set.
        """
        if self.refuse and not self._mask[self._places(action)].all():
            raise ValueError(f"action {action} is forbidden; the mask is {self._mask.tolist()}")
        return super().step(action)

    def _draw(self) -> Any:
        shown = super()._draw()
        self._mask = self.np_random.random(len(self._mask)) < self.chance
        self._mask[self._places(shown)] = True
        return shown

    def _places(self, action: Any) -> Array:
        """The indices of an action's options in the mask."""
        return self._offsets[:-1] + np.reshape(action, -1) - self._first


class MaskedIdentityEnvMultiDiscrete(MaskedIdentityEnv):
    """Two numbers from 0 to `dim - 1`."""

    def __init__(
        self, dim: int = 8, chance: float = 0.1, refuse: bool = True, ep_length: int = 100
    ) -> None:
        super().__init__(None, spaces.MultiDiscrete([dim, dim]), chance, refuse, ep_length)


class MaskedIdentityEnvMultiBinary(MaskedIdentityEnv):
    """`dim` bits."""

    def __init__(
        self, dim: int = 8, chance: float = 0.1, refuse: bool = True, ep_length: int = 100
    ) -> None:
        super().__init__(None, spaces.MultiBinary(dim), chance, refuse, ep_length)
