"""What this distribution offers: `acktr`."""

from __future__ import annotations

from rlk.component import Component
from rlk_acktr.checks import check
from rlk_acktr.config import ACKTRConfig
from rlk_on_policy.defaults import ON_POLICY

component = Component(
    name="acktr",
    factory="rlk_acktr.algorithm:ACKTR",
    summary="advantage actor-critic with natural gradients (K-FAC) within a trust region",
    config=ACKTRConfig,
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    recurrent=True,
    forwards={
        "kfac_clip": "kfac.kfac_clip",
        "kfac_update": "kfac.kfac_update",
        "async_eigen_decomp": "kfac.async_eigen_decomp",
        "vf_fisher_coef": "kfac.vf_fisher_coef",
    },
    # One row of metrics for 100 collections, as in Stable Baselines.
    defaults={**ON_POLICY, "optimiser": "kfac", "log_interval": 100},
)
