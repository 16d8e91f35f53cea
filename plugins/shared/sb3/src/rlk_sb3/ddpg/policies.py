"""The policy classes of DDPG; custom networks are set by `policy_kwargs`."""

from rlk_sb3.elsewhere import refusing
from rlk_sb3.td3.policies import CnnPolicy, MlpPolicy, MultiInputPolicy, TD3Policy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "TD3Policy"]

__getattr__ = refusing(__name__)
