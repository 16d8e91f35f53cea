"""TD3 for rlk: `TD3Config` has its hyperparameters."""

from rlk_td3.config import TD3Config

__all__ = ["TD3Config"]
