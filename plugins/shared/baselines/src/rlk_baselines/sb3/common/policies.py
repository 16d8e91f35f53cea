"""Policies by name, and a class to derive one's own from (docs/custom-policies.md)."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_baselines.policies.classes import ActorCriticPolicy

__all__ = ["ActorCriticPolicy", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
