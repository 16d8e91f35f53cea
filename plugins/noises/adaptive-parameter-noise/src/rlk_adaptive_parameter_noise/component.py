"""What this distribution offers: `adaptive-parameter-noise`, or `param-noise`."""

from __future__ import annotations

from rlk.component import Component
from rlk_adaptive_parameter_noise.config import AdaptiveParameterNoiseConfig, check

component = Component(
    name="adaptive-parameter-noise",
    factory="rlk_adaptive_parameter_noise.noise:AdaptiveParameterNoise",
    summary="acts with a perturbed copy of the policy, at a constant distance from it",
    known_as=("AdaptiveParamNoiseSpec",),
    instead_of={
        "noise_type=adaptive-param": (
            "initial_stddev={noise_std},desired_action_stddev={noise_std}"
        ),
        "noise_std": "initial_stddev={value},desired_action_stddev={value}",
    },
    config=AdaptiveParameterNoiseConfig,
    action_spaces=("Discrete", "Box"),
    collects="off-policy",
    perturbs_policy=True,
    check=check,
)
