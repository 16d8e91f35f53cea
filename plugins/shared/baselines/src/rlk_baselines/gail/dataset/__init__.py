"""Expert trajectories: `ExpertDataset`, `DataLoader` and `generate_expert_traj`."""

from rlk_baselines.gail.dataset.dataset import DataLoader, ExpertDataset
from rlk_baselines.gail.dataset.record_expert import generate_expert_traj

__all__ = ["DataLoader", "ExpertDataset", "generate_expert_traj"]
