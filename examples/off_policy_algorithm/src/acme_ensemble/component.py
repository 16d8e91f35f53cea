"""What planning knows of the algorithm. It imports no torch."""

from __future__ import annotations

from acme_ensemble.config import EnsembleDDPGConfig
from rlk.component import Component
from rlk_off_policy.defaults import CONTINUOUS

component = Component(
    name="ensemble-ddpg",
    factory="acme_ensemble.algorithm:EnsembleDDPG",
    summary="DDPG whose target is the least of two critics, drawn from an ensemble",
    config=EnsembleDDPGConfig,
    action_spaces=("Box",),
    collects="off-policy",
    reports=("td_error",),
    deterministic=True,
    defaults=CONTINUOUS,
    forwards={"buffer_size": "storage.buffer_size"},
    selects={"action_noise": "noises"},
    activates={"prioritized_replay": "prioritized-replay"},
)
