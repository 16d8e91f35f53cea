"""The base class of off-policy models."""

from rlk_baselines.sb3.algorithm import OffPolicyAlgorithm

__all__ = [
    "OffPolicyAlgorithm",
]
