"""What this distribution offers: `ornstein-uhlenbeck-noise`."""

from __future__ import annotations

from rlk.component import Component
from rlk_ornstein_uhlenbeck_noise.config import OrnsteinUhlenbeckNoiseConfig, check

component = Component(
    name="ornstein-uhlenbeck-noise",
    factory="rlk_ornstein_uhlenbeck_noise.noise:OrnsteinUhlenbeckNoise",
    summary="noise on continuous actions that is correlated in time and reverts to its mean",
    config=OrnsteinUhlenbeckNoiseConfig,
    instead_of={
        "noise_type=ornstein-uhlenbeck": "sigma={noise_std}",
        "noise_std": "sigma={value}",
    },
    action_spaces=("Box",),
    collects="off-policy",
    check=check,
)
