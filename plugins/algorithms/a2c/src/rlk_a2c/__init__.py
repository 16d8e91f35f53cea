"""A2C for rlk: `A2CConfig` has its hyperparameters."""

from rlk_a2c.config import A2CConfig

__all__ = ["A2CConfig"]
