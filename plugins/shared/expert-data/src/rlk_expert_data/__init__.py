"""What an expert saw and did: recorded, read, checked, and given in batches."""

from rlk_expert_data.data_loader import DataLoader
from rlk_expert_data.dataset import ExpertDataset
from rlk_expert_data.generate import generate_expert_traj
from rlk_expert_data.player import Player
from rlk_expert_data.record import record
from rlk_expert_data.source import read
from rlk_expert_data.trajectories import Trajectories

__all__ = [
    "DataLoader",
    "ExpertDataset",
    "Player",
    "Trajectories",
    "generate_expert_traj",
    "read",
    "record",
]
