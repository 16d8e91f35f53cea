"""The class above all models."""

from rlk_baselines.sb3.algorithm import BaseAlgorithm

__all__ = [
    "BaseAlgorithm",
]
