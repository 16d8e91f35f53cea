"""Identity environments in which a given number of options is forbidden at every step.

Forbidden actions can be taken, and count as wrong ones. `action_masks()` has the layout that
`rlk_action_masking.masks` describes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk_toy_environments.masked_identity import MaskedIdentityEnv


class _InvalidActionEnv(MaskedIdentityEnv):
    """Forbids as many options as it is told, drawn anew in every step; never one that is right."""

    def __init__(self, space: spaces.Space[Any], n_invalid_actions: int, ep_length: int) -> None:
        super().__init__(None, space, chance=1.0, refuse=False, ep_length=ep_length)
        n_wrong = len(self._mask) - len(self._places(space.sample()))
        if not 0 <= n_invalid_actions <= n_wrong:
            raise ValueError(
                f"n_invalid_actions must be from 0 to {n_wrong}, the number of options that are "
                f"not the right ones, got {n_invalid_actions}."
            )
        self.n_invalid_actions = n_invalid_actions

    def _draw(self) -> Any:
        shown = super()._draw()
        wrong = np.setdiff1d(np.arange(len(self._mask)), self._places(shown))
        self._mask[self.np_random.choice(wrong, self.n_invalid_actions, replace=False)] = False
        return shown


class InvalidActionEnvDiscrete(_InvalidActionEnv):
    """Actions are numbers from 0 to `dim - 1`."""

    def __init__(
        self, dim: int | None = None, ep_length: int = 100, n_invalid_actions: int = 0
    ) -> None:
        space = spaces.Discrete(1 if dim is None else dim)
        super().__init__(space, n_invalid_actions, ep_length)


class InvalidActionEnvMultiDiscrete(_InvalidActionEnv):
    """Actions are a number from 0 to `dims[i] - 1` for each i."""

    def __init__(
        self, dims: Sequence[int] | None = None, ep_length: int = 100, n_invalid_actions: int = 0
    ) -> None:
        space = spaces.MultiDiscrete([1, 1] if dims is None else list(dims))
        super().__init__(space, n_invalid_actions, ep_length)


class InvalidActionEnvMultiBinary(_InvalidActionEnv):
    """Actions are `dims` bits."""

    def __init__(
        self, dims: int | None = None, ep_length: int = 100, n_invalid_actions: int = 0
    ) -> None:
        space = spaces.MultiBinary(1 if dims is None else dims)
        super().__init__(space, n_invalid_actions, ep_length)
