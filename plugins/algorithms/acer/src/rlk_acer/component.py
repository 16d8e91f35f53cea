"""What this distribution offers: `acer`."""

from __future__ import annotations

from rlk.component import Component
from rlk_acer.checks import check
from rlk_acer.config import ACERConfig
from rlk_on_policy.defaults import ON_POLICY

component = Component(
    name="acer",
    factory="rlk_acer.algorithm:ACER",
    summary="actor-critic with experience replay: Retrace, truncated weights, a trust region",
    config=ACERConfig,
    check=check,
    action_spaces=("Discrete",),
    collects="both",
    recurrent=True,
    defaults={
        **ON_POLICY,
        "storage": "trajectory-replay",
        "optimiser": "rmsprop",
        "log_interval": 100,
    },
    forwards={
        "buffer_size": "storage.buffer_size",
        "rprop_alpha": "rmsprop.alpha",
    },
)
