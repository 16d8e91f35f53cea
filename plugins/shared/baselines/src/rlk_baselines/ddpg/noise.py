"""Noise, under the module name of Stable Baselines before 2.8."""

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
