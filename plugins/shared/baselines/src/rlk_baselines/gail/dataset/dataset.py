"""`ExpertDataset` and `DataLoader`, from rlk's expert data."""

from rlk_baselines.refusals import refused
from rlk_expert_data import DataLoader
from rlk_expert_data import ExpertDataset as OfRlk

__all__ = ["DataLoader", "ExpertDataset"]


class ExpertDataset(OfRlk):
    """As rlk's `ExpertDataset`; arguments that do not fit are a ValueError."""

    __init__ = refused()(OfRlk.__init__)
