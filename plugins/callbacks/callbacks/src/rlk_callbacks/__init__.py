"""Callbacks: by name as plugins, and as objects for `agent.learn(callback=…)`."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_callbacks.checkpoint import Checkpoints as Checkpoints
    from rlk_callbacks.evaluation import EvaluationCallback as EvaluationCallback
    from rlk_callbacks.every_n import EveryN as EveryN
    from rlk_callbacks.stop import MaxEpisodes as MaxEpisodes
    from rlk_callbacks.stop import StopOnNoImprovement as StopOnNoImprovement
    from rlk_callbacks.stop import StopOnReward as StopOnReward

_HOMES = {
    "Checkpoints": "checkpoint",
    "EvaluationCallback": "evaluation",
    "EveryN": "every_n",
    **dict.fromkeys(("MaxEpisodes", "StopOnNoImprovement", "StopOnReward"), "stop"),
}

__all__ = [
    "Checkpoints",
    "EvaluationCallback",
    "EveryN",
    "MaxEpisodes",
    "StopOnNoImprovement",
    "StopOnReward",
]


def __getattr__(name: str) -> Any:
    """Imported on first use, because some callbacks need torch, and components do not."""
    if name not in _HOMES:
        raise AttributeError(f"module 'rlk_callbacks' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlk_callbacks.{_HOMES[name]}"), name)
