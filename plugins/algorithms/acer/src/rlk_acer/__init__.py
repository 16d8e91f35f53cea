"""ACER for rlk: `ACERConfig` has its hyperparameters."""

from rlk_acer.config import ACERConfig

__all__ = ["ACERConfig"]
