"""The policy classes of PPO."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
