"""`FiveValues`: an environment of either interface, with Gymnasium's; its frames can be shown."""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk_baselines.environments.beyond_id import beyond_id
from rlk_baselines.environments.window import show
from rlk_old_gym import five_values
from rlk_old_gym.five_values import TRUNCATED
from rlk_old_gym.interface import takes

__all__ = ["TRUNCATED", "FiveValues"]

#: Methods that vectors call.
_OWN = ("render_as", "beyond_id")


class FiveValues(five_values.FiveValues):
    """As of `rlk_old_gym`, with the render modes of Stable Baselines' vectors."""

    def render_as(self, mode: str) -> Any:
        """What `render` gives in a mode; an environment of Gymnasium's has one mode alone.

        Args:
            mode: `rgb_array`, `human` (its frame is shown), or another that the environment knows.
        """
        if takes(self.env.render, "mode"):
            return self.env.render(mode=mode)
        frame = self.env.render()
        if mode == "human" and isinstance(frame, np.ndarray):
            return show(frame)
        return frame

    def beyond_id(self) -> list[str]:
        """What it is more than its id: see `beyond_id.beyond_id`."""
        return beyond_id(self.env, self.spec)

    def get_wrapper_attr(self, name: str) -> Any:
        """As of `rlk_old_gym`; also `render_as` and `beyond_id`."""
        return getattr(self, name) if name in _OWN else super().get_wrapper_attr(name)
