"""What this distribution offers: `bc`, and the storage that it learns from."""

from __future__ import annotations

from rlk.component import Component
from rlk_bc.checks import check, check_expert
from rlk_bc.config import BCConfig, ExpertConfig
from rlk_on_policy.defaults import ON_POLICY

algorithm = Component(
    name="bc",
    factory="rlk_bc.algorithm:BC",
    summary="behaviour cloning: supervised learning from an expert's transitions",
    config=BCConfig,
    action_spaces=("Discrete", "Box", "MultiDiscrete", "MultiBinary"),
    check=check,
    collects="offline",
    forwards={
        "expert_path": "expert-transitions.expert_path",
        "traj_limitation": "expert-transitions.traj_limitation",
        "train_fraction": "expert-transitions.train_fraction",
        "batch_size": "expert-transitions.batch_size",
    },
    defaults={**ON_POLICY, "storage": "expert-transitions", "collector": "no-steps"},
)
storage = Component(
    name="expert-transitions",
    factory="rlk_bc.storage:ExpertTransitions",
    summary="an expert's transitions, from a file or a Minari dataset",
    config=ExpertConfig,
    collects="offline",
    check=check_expert,
)
