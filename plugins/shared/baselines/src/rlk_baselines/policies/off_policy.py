"""Policies by the names of Stable Baselines; all off-policy models have the same ones here."""

from rlk_baselines.policies.by_name import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy
from rlk_baselines.policies.classes import FeedForwardPolicy
from rlk_baselines.policies.extractors import nature_cnn
from rlk_baselines.policies.registered import register_policy

__all__ = [
    "CnnPolicy",
    "FeedForwardPolicy",
    "LnCnnPolicy",
    "LnMlpPolicy",
    "MlpPolicy",
    "nature_cnn",
    "register_policy",
]
