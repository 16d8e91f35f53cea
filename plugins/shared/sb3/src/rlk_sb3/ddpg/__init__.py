"""DDPG: deep deterministic policy gradient, and its policies."""

from rlk_sb3.ddpg.ddpg import DDPG
from rlk_sb3.ddpg.policies import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["DDPG", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
