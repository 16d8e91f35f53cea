"""`observation-range`: clips the policy's observations to two bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from torch import nn

from rlk.hookspecs import hookimpl
from rlk_observation_statistics.config import RangeConfig
from rlk_running_statistics.observations import boxes

if TYPE_CHECKING:
    from rlk.running.run import Run


class Bounds(nn.Module):
    """Clips every Box except images; for a Dict space, every such key. Other parts are unchanged.

    Args:
        keys: of the Boxes in a Dict space; [None] for a Box itself.
        low, high: the bounds.
    """

    def __init__(self, keys: list[str | None], low: float, high: float) -> None:
        super().__init__()
        self.keys, self.low, self.high = keys, low, high

    def forward(self, observation: Any) -> Any:
        return self._each(observation, lambda part: part.clamp(self.low, self.high))

    def numpy_forward(self) -> Callable[[Any], Any]:
        """The numpy forward."""
        low, high = np.float32(self.low), np.float32(self.high)
        return lambda observation: self._each(
            observation, lambda part: np.minimum(np.maximum(part, low), high)
        )

    def _each(self, observation: Any, clipped: Callable[[Any], Any]) -> Any:
        if self.keys == [None]:
            return clipped(observation)
        return {**observation, **{key: clipped(observation[key]) for key in self.keys}}


class ObservationRange:
    """Puts `Bounds` before the encoder, after all other filters."""

    def __init__(self, config: RangeConfig | None = None) -> None:
        self._config = config or RangeConfig()

    @hookimpl(trylast=True)
    def rlk_filter_observation(self, run: Run) -> Bounds | None:
        low, high = self._config.range
        keys = [key for key, *_ in boxes(run.observation_space)]
        if not keys or (low == -math.inf and high == math.inf):
            return None
        return Bounds(keys, low, high)
