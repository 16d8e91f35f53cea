"""The policy classes of TRPO, which are those of PPO."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
