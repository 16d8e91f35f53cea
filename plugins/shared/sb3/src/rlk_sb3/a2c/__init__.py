"""A2C: advantage actor-critic, and its policies."""

from rlk_sb3.a2c.a2c import A2C
from rlk_sb3.a2c.policies import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["A2C", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
