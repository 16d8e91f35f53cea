"""PPO for rlk, as in Stable-Baselines3: `PPOConfig` has its hyperparameters."""

from rlk_ppo.config import PPOConfig

__all__ = ["PPOConfig"]
