"""TRPO with the parameters of sb3-contrib, and its policies."""

from rlk_baselines.sb3_contrib.trpo.policies import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_baselines.sb3_contrib.trpo.trpo import TRPO

__all__ = ["TRPO", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
