"""Noise, by the module that had it before Stable Baselines 2.8."""

from rlk_baselines.common.noise import (
    ActionNoise,
    AdaptiveParamNoiseSpec,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)

__all__ = [
    "ActionNoise",
    "AdaptiveParamNoiseSpec",
    "NormalActionNoise",
    "OrnsteinUhlenbeckActionNoise",
]
