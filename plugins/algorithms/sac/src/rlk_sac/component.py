"""What this distribution offers: `sac`."""

from __future__ import annotations

from rlk.component import Component
from rlk_off_policy.defaults import CONTINUOUS
from rlk_sac.checks import check
from rlk_sac.config import SACConfig

#: SAC's settings for `gsde` if it is chosen, as in Stable-Baselines3's SAC.
SQUASHED_GSDE = {
    "distribution.squash_output": True,
    "distribution.learn_features": True,
    "distribution.log_std_init": -3.0,
    "distribution.clip_mean": 2.0,
}

component = Component(
    name="sac",
    factory="rlk_sac.algorithm:SAC",
    summary="soft actor-critic with twin critics and automatic entropy, on any replay storage",
    config=SACConfig,
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    check=check,
    defaults={**CONTINUOUS, "distribution": {"Box": "squashed-gaussian"}, **SQUASHED_GSDE},
    activates={"use_sde": "gsde"},
    forwards={"buffer_size": "storage.buffer_size", "sde_sample_freq": "gsde.sample_freq"},
    selects={"action_noise": "noises"},
)
