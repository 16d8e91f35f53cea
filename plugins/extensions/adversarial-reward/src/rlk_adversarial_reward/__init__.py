"""Rewards learnt from an expert: `gail-reward` and `airl-reward`, for any on-policy algorithm."""

from rlk_adversarial_reward.config import AIRLConfig, GAILConfig

__all__ = ["AIRLConfig", "GAILConfig"]
