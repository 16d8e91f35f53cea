"""GAIL, and expert trajectories: `ExpertDataset`, `DataLoader` and `generate_expert_traj`."""

from rlk_baselines.gail.dataset import DataLoader, ExpertDataset, generate_expert_traj
from rlk_baselines.gail.model import GAIL

__all__ = ["GAIL", "DataLoader", "ExpertDataset", "generate_expert_traj"]
