"""What this distribution offers: `sac`."""

from __future__ import annotations

from rlk.component import Component
from rlk_off_policy.checks import check_maximum_entropy
from rlk_off_policy.defaults import STOCHASTIC
from rlk_sac.config import SACConfig

component = Component(
    name="sac",
    factory="rlk_sac.algorithm:SAC",
    summary="soft actor-critic with twin critics and automatic entropy, on any replay storage",
    config=SACConfig,
    instead_of={
        "algo=tqc": "rlk has no TQC. The nearest are --algo sac and --algo td3.",
        "algo=crossq": "rlk has no CrossQ. The nearest is --algo sac.",
    },
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    check=check_maximum_entropy,
    defaults=STOCHASTIC,
    activates={"use_sde": "gsde"},
    forwards={"buffer_size": "storage.buffer_size", "sde_sample_freq": "gsde.sample_freq"},
    selects={"action_noise": "noises"},
)
