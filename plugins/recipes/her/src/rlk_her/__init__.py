"""HER as a name: `--algo her --set model=sac`, or `rlk_her.HER("MlpPolicy", env, "sac")`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlk_her.config import HERConfig as HERConfig

if TYPE_CHECKING:
    from rlk_her.flat_goals import HERGoalEnvWrapper as HERGoalEnvWrapper
    from rlk_her.model import HER as HER
    from rlk_her.model import GoalSelectionStrategy as GoalSelectionStrategy

_HOMES = {"HER": "model", "GoalSelectionStrategy": "model", "HERGoalEnvWrapper": "flat_goals"}

__all__ = ["HER", "GoalSelectionStrategy", "HERConfig", "HERGoalEnvWrapper"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'rlk_her' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlk_her.{_HOMES[name]}"), name)
