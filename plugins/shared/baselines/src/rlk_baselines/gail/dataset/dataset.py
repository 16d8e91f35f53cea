"""`ExpertDataset` and `DataLoader`, which are rlk's."""

from rlk_expert_data import DataLoader, ExpertDataset

__all__ = ["DataLoader", "ExpertDataset"]
