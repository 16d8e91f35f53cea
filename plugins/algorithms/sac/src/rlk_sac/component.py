"""What this distribution offers: `sac`."""

from __future__ import annotations

from rlk.component import Component
from rlk_sac.config import SACConfig

component = Component(
    name="sac",
    factory="rlk_sac.algorithm:SAC",
    summary="soft actor-critic with twin critics and automatic entropy, on any replay storage",
    config=SACConfig,
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    defaults={
        "env": "Pendulum-v1",
        "policy": "mlp",
        "policy.act_fun": "relu",
        "policy.init": "xavier",
        "distribution": {"Box": "squashed-gaussian"},
        "vec_env": "dummy",
        "storage": "replay",
        "collector": "steps",
        "optimiser": "adam",
        "serializer": "zip",
        "log_interval": 4,
    },
    forwards={"buffer_size": "replay.buffer_size"},
    selects={"action_noise": "noises"},
)
