"""The policy classes of SAC; custom networks are set by `policy_kwargs`."""

from typing import Any

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_baselines.sb3.elsewhere import not_here

SACPolicy = MlpPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "SACPolicy"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
