"""What this distribution offers: `td3`."""

from __future__ import annotations

from rlk.component import Component
from rlk_off_policy.defaults import CONTINUOUS
from rlk_td3.checks import check
from rlk_td3.config import TD3Config

component = Component(
    name="td3",
    factory="rlk_td3.algorithm:TD3",
    summary="twin delayed deterministic policy gradient, on any replay storage",
    config=TD3Config,
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    deterministic=True,
    defaults=CONTINUOUS,
    forwards={"buffer_size": "storage.buffer_size"},
    selects={"action_noise": "noises"},
    check=check,
)
