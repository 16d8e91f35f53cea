"""Policies by the names of Stable Baselines, and base classes for custom ones."""

from __future__ import annotations

from typing import Any

from rlk_baselines.policies.by_name import (
    CnnLnLstmPolicy,
    CnnLstmPolicy,
    CnnPolicy,
    MlpLnLstmPolicy,
    MlpLstmPolicy,
    MlpPolicy,
)
from rlk_baselines.policies.classes import (
    ActorCriticPolicy,
    BasePolicy,
    FeedForwardPolicy,
    LstmPolicy,
    RecurrentActorCriticPolicy,
)
from rlk_baselines.policies.extractors import nature_cnn
from rlk_baselines.policies.registered import get_policy_from_name, register_policy
from rlk_baselines.refusals import not_here

__all__ = [
    "ActorCriticPolicy",
    "BasePolicy",
    "CnnLnLstmPolicy",
    "CnnLstmPolicy",
    "CnnPolicy",
    "FeedForwardPolicy",
    "LstmPolicy",
    "MlpLnLstmPolicy",
    "MlpLstmPolicy",
    "MlpPolicy",
    "RecurrentActorCriticPolicy",
    "get_policy_from_name",
    "nature_cnn",
    "register_policy",
]


def __getattr__(name: str) -> Any:
    instead = "net_arch=[…] of a FeedForwardPolicy, or torch.nn.Sequential of torch.nn.Linear"
    raise not_here(__name__, name, {"mlp_extractor": instead})
