"""What planning knows of the algorithm. It imports no torch."""

from __future__ import annotations

from acme_kl_penalty.checks import check
from acme_kl_penalty.config import KLPenaltyPPOConfig
from rlk.component import Component
from rlk_on_policy.defaults import ON_POLICY

component = Component(
    name="kl-penalty-ppo",
    factory="acme_kl_penalty.algorithm:KLPenaltyPPO",
    summary="PPO with an adaptive penalty on the divergence instead of clipping",
    config=KLPenaltyPPOConfig,
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    defaults=ON_POLICY,
)
