"""DDPG for rlk: `DDPGConfig` has its hyperparameters."""

from rlk_ddpg.config import DDPGConfig

__all__ = ["DDPGConfig"]
