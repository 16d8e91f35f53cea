"""What this distribution offers: `trpo`."""

from __future__ import annotations

from rlk.component import Component
from rlk_trpo.config import TRPOConfig

component = Component(
    name="trpo",
    factory="rlk_trpo.algorithm:TRPO",
    summary="natural gradient steps of the policy within a trust region",
    config=TRPOConfig,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    forwards={
        "max_kl": "natural-gradient.max_kl",
        "cg_iters": "natural-gradient.cg_iters",
        "cg_damping": "natural-gradient.cg_damping",
    },
    defaults={
        "env": "CartPole-v1",
        "policy": "mlp",
        "distribution": {
            "Discrete": "categorical",
            "Box": "diag-gaussian",
            "MultiDiscrete": "multi-categorical",
            "MultiBinary": "bernoulli",
        },
        "vec_env": "dummy",
        "storage": "rollout",
        "collector": "steps",
        "optimiser": "natural-gradient",
        "vf_optimiser": "adam",
        "serializer": "zip",
    },
)
