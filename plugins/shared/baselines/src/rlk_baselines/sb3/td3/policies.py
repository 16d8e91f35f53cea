"""The policy classes of TD3; custom networks are set by `policy_kwargs`."""

from typing import Any

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_baselines.sb3.elsewhere import not_here

TD3Policy = MlpPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "TD3Policy"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
