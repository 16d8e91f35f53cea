"""The linear function between a distribution's actions and those of a Box, in torch.

Shapes: B actions, D numbers in each.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rlk_action_scaling.scaling import divisor, middle_and_half


class BoxUnits:
    """Units in which the lower bound of a Box is `low`, and the upper one `high`.

    Args:
        space: the Box.
        low, high: of every dimension.

    Raises:
        PlanError: if a bound of the space is infinite.
    """

    def __init__(self, space: Any, low: float = -1.0, high: float = 1.0) -> None:
        middle, half = middle_and_half(space)
        unit = half.astype(np.float64) * (2.0 / (high - low))  # twice a float16 may be no float16
        self._center = (low + high) / 2
        self._middle = torch.as_tensor(middle, dtype=torch.float32)
        self._unit = torch.as_tensor(unit, dtype=torch.float32)
        self._divisor = torch.as_tensor(divisor(unit), dtype=torch.float32)
        bounds = np.stack([space.low, space.high])
        self._bounds = torch.as_tensor(bounds, dtype=torch.float32)

    def own(self, action: Tensor) -> Tensor:
        """The space's actions in these units, float [..., D]."""
        middle, unit = self._middle.to(action.device), self._divisor.to(action.device)
        return (action - middle.flatten()) / unit.flatten() + self._center

    def in_space(self, own: Tensor) -> Tensor:
        """The space's actions [B, *shape] from these units, [B, D]; the inverse of `own`."""
        return self._middle.to(own.device) + self.width_in_space(own - self._center)

    def width_in_space(self, own: Tensor) -> Tensor:
        """A width in the space, [B, *shape], such as a standard deviation, from [B, D]."""
        unit = self._unit.to(own.device)
        return unit * own.reshape(-1, *unit.shape)

    def log_density(self, own: Tensor, action: Tensor) -> Tensor:
        """The log-density of the space's actions from that in these units, float [B].

        Outside of the bounds it is minus infinity. A bound is not, though rounding may scale it
        beyond `low` or `high`.

        Args:
            own: the log-density of `own(action)`, float [B]. action: of the space, [B, *shape].
        """
        low, high = self._bounds.to(action.device)
        is_outside = (action.float() < low) | (action.float() > high)
        found = own - self._divisor.log().sum()
        return found.masked_fill(is_outside.flatten(1).any(-1), -math.inf)
