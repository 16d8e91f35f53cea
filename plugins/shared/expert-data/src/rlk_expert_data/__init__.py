"""Observations and actions of an expert: recorded, read, checked, and split into batches."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_expert_data.data_loader import DataLoader as DataLoader
    from rlk_expert_data.dataset import ExpertDataset as ExpertDataset
    from rlk_expert_data.generate import generate_expert_traj as generate_expert_traj
    from rlk_expert_data.player import Player as Player
    from rlk_expert_data.recording import record as record
    from rlk_expert_data.source import read as read
    from rlk_expert_data.trajectories import Trajectories as Trajectories

_HOMES = {
    "DataLoader": "data_loader",
    "ExpertDataset": "dataset",
    "Player": "player",
    "Trajectories": "trajectories",
    "generate_expert_traj": "generate",
    "read": "source",
    "record": "recording",
}

__all__ = [
    "DataLoader",
    "ExpertDataset",
    "Player",
    "Trajectories",
    "generate_expert_traj",
    "read",
    "record",
]


def __getattr__(name: str) -> Any:
    """Imported on first use: these need gymnasium, which settings (`settings.py`) do not."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
