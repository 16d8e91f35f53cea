"""The policy classes of DDPG; custom networks are set by `policy_kwargs`."""

from typing import Any

from rlk_sb3.elsewhere import not_here
from rlk_sb3.td3.policies import CnnPolicy, MlpPolicy, MultiInputPolicy, TD3Policy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "TD3Policy"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
