"""What this distribution offers: `trpo`."""

from __future__ import annotations

from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY
from rlk_trpo.checks import check
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
    defaults={**ON_POLICY, "optimiser": "natural-gradient", "vf_optimiser": "adam"},
    check=check,
)
