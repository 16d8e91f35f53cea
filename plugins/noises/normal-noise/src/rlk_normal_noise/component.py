"""What this distribution offers: `normal-noise`."""

from __future__ import annotations

from rlk.component import Component
from rlk_normal_noise.config import NormalNoiseConfig, check

component = Component(
    name="normal-noise",
    factory="rlk_normal_noise.noise:NormalNoise",
    summary="independent Gaussian noise on continuous actions",
    config=NormalNoiseConfig,
    instead_of={
        "noise_type=normal": "sigma={noise_std}",
        # Alone it has no effect in rl-baselines-zoo, so nothing is put in for it.
        "noise_std": "it is the sigma of a noise: --plugin normal-noise:sigma={value}, or in "
        "Python plugins=['normal-noise:sigma={value}']. Others: rlk plugins list --kind noises.",
    },
    action_spaces=("Box",),
    collects="off-policy",
    check=check,
)
