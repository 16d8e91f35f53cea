"""`ExpertDataset` and `DataLoader`, from rlk's expert data."""

from rlk_expert_data import DataLoader, ExpertDataset

__all__ = ["DataLoader", "ExpertDataset"]
