"""PPO1 for rlk: `PPO1Config` has its hyperparameters."""

from rlk_ppo1.config import PPO1Config

__all__ = ["PPO1Config"]
