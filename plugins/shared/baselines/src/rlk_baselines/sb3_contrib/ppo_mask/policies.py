"""The policy classes of MaskablePPO, which are those of PPO: the model applies the masks."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
