"""GAIL, and expert trajectories: `ExpertDataset`, `DataLoader` and `generate_expert_traj`."""

from rlk_baselines.gail.dataset import DataLoader, ExpertDataset
from rlk_baselines.gail.model import GAIL
from rlk_baselines.gail.record_expert import generate_expert_traj

__all__ = ["GAIL", "DataLoader", "ExpertDataset", "generate_expert_traj"]
