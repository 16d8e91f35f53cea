"""SAC for rlk: `SACConfig` has its hyperparameters."""

from rlk_sac.config import SACConfig

__all__ = ["SACConfig"]
