"""`TRPO`."""

from rlk_baselines.trpo_mpi.trpo_mpi import TRPO

__all__ = ["TRPO"]
