"""PPO2 for rlk: `PPO2Config` has its hyperparameters."""

from rlk_ppo2.config import PPO2Config

__all__ = ["PPO2Config"]
