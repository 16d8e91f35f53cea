"""The policies of A2C: each class stands for a name."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
