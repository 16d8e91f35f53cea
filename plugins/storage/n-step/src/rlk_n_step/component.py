"""What planning knows of n-step returns."""

from __future__ import annotations

from rlk.component import Component
from rlk_n_step.checks import check
from rlk_n_step.config import NStepConfig

component = Component(
    name="n-step",
    factory="rlk_n_step.storage:NStep",
    summary="n-step returns: the discounted sum of n rewards, and the value n steps later",
    config=NStepConfig,
    instead_of={"n_steps": "n_steps={value}"},
    collects="off-policy",
    stages=("window", "fold"),
    check=check,
)
