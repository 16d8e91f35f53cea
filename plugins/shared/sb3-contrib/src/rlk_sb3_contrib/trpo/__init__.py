"""TRPO with the parameters of sb3-contrib, and its policies."""

from rlk_sb3_contrib.trpo.policies import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_sb3_contrib.trpo.trpo import TRPO

__all__ = ["TRPO", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
