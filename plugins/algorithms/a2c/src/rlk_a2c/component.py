"""What this distribution offers: `a2c`."""

from __future__ import annotations

from rlk.component import Component
from rlk_a2c.checks import check
from rlk_a2c.config import A2CConfig
from rlk_on_policy.defaults import ON_POLICY

component = Component(
    name="a2c",
    factory="rlk_a2c.algorithm:A2C",
    summary="synchronous advantage actor-critic with n-step returns",
    config=A2CConfig,
    instead_of=dict.fromkeys(("rms_prop_eps", "eps"), "epsilon={value}"),
    check=check,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    collects="on-policy",
    recurrent=True,
    forwards={"alpha": "rmsprop.alpha", "momentum": "rmsprop.momentum"},
    # One row of metrics for 100 collections, as in Stable Baselines: they are short.
    defaults={**ON_POLICY, "optimiser": "rmsprop", "log_interval": 100},
)
