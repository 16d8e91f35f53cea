"""The base class of on-policy models."""

from rlk_baselines.sb3.algorithm import OnPolicyAlgorithm

__all__ = [
    "OnPolicyAlgorithm",
]
