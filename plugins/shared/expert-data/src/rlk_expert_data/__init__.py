"""Observations and actions of an expert: recorded, read, checked, and split into batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_expert_data.data_loader import DataLoader as DataLoader
    from rlk_expert_data.dataset import ExpertDataset as ExpertDataset
    from rlk_expert_data.generate import generate_expert_traj as generate_expert_traj
    from rlk_expert_data.player import Player as Player
    from rlk_expert_data.recording import record as record
    from rlk_expert_data.source import read as read
    from rlk_expert_data.trajectories import Trajectories as Trajectories
else:
    # On first use: these need gymnasium, which settings (`settings.py`) do not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "DataLoader": "data_loader",
            "ExpertDataset": "dataset",
            "Player": "player",
            "Trajectories": "trajectories",
            "generate_expert_traj": "generate",
            "read": "source",
            "record": "recording",
        },
    )
