"""`ShownEnv`: gives an environment of either interface that of Gymnasium, and shows frames."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from rlk_baselines.environments.by_id import made_by_id
from rlk_baselines.environments.window import show
from rlk_old_gym import five_values
from rlk_old_gym.five_values import TRUNCATED
from rlk_old_gym.interface import is_old, layers, takes

__all__ = ["TRUNCATED", "ShownEnv", "with_five_values"]

#: Methods of this wrapper that vectors call.
_OWN = ("render_as", "usual_mode", "made_by_id", "is_wrapped")


class ShownEnv(five_values.FiveValues):
    """As in `rlk_old_gym`, with the render modes of Stable Baselines' vectors."""

    def render_as(self, mode: str) -> Any:
        """Render in a mode; environments of Gymnasium render in the one mode they were made with.

        Args:
            mode: `rgb_array`, `human` (a frame is shown in a window), or another mode that the
                environment supports.
        """
        if takes(self.env.render, "mode"):
            return self.env.render(mode=mode)
        frame = self.env.render()
        if mode == "human" and isinstance(frame, np.ndarray):
            return show(frame)
        return frame

    def usual_mode(self) -> str:
        """The mode of a vector's `render()`: see `VecEnv.render`."""
        is_old = takes(self.env.render, "mode")
        return "rgb_array" if self.render_mode == "rgb_array" and not is_old else "human"

    def made_by_id(self) -> bool:
        """Whether the environment can be made again by its id: see `by_id.made_by_id`."""
        return made_by_id(self.env, self.spec)

    def is_wrapped(self, wrapper_class: Any) -> bool:
        """Whether the environment is in a wrapper of a class, or of one of a tuple of classes."""
        return any(isinstance(layer, wrapper_class) for layer in layers(self.env))

    def get_wrapper_attr(self, name: str) -> Any:
        """As in `rlk_old_gym`, and also the methods that vectors call."""
        return getattr(self, name) if name in _OWN else super().get_wrapper_attr(name)


def with_five_values(env: Any) -> Any:
    """An environment with Gymnasium's interface: the given one, if it has it already."""
    is_gymnasiums = isinstance(env, gymnasium.Env) and not is_old(env)
    return env if is_gymnasiums else ShownEnv(env)
