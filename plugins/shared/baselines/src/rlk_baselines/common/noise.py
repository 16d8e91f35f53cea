"""Noise on actions and on parameters, as objects to pass to models."""

from __future__ import annotations

from abc import ABC, abstractmethod

from rlk.records import Array
from rlk_adaptive_parameter_noise import AdaptiveParamNoiseSpec
from rlk_normal_noise import NormalActionNoise
from rlk_ornstein_uhlenbeck_noise import OrnsteinUhlenbeckActionNoise


class ActionNoise(ABC):
    """The interface of action noise; the classes of this module count as its subclasses."""

    def reset(self) -> None:
        """Called at the end of an episode."""
        return

    @abstractmethod
    def __call__(self) -> Array:
        """A sample, float [D]."""


ActionNoise.register(NormalActionNoise)
ActionNoise.register(OrnsteinUhlenbeckActionNoise)

__all__ = [
    "ActionNoise",
    "AdaptiveParamNoiseSpec",
    "NormalActionNoise",
    "OrnsteinUhlenbeckActionNoise",
]
