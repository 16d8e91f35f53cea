"""`PPO1`."""

from rlk_baselines.ppo1.pposgd_simple import PPO1

__all__ = ["PPO1"]
