"""TRPO for rlk: `TRPOConfig` has its hyperparameters."""

from rlk_trpo.config import TRPOConfig

__all__ = ["TRPOConfig"]
