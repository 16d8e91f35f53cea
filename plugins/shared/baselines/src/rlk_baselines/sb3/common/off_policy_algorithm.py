"""The class above the models that learn from a replay."""

from rlk_baselines.sb3.algorithm import OffPolicyAlgorithm

__all__ = [
    "OffPolicyAlgorithm",
]
