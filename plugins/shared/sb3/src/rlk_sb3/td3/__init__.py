"""TD3: twin delayed DDPG, and its policies."""

from rlk_sb3.td3.policies import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_sb3.td3.td3 import TD3

__all__ = ["TD3", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
