"""The class above the models that learn from collections."""

from rlk_baselines.sb3.algorithm import OnPolicyAlgorithm

__all__ = [
    "OnPolicyAlgorithm",
]
