"""ACKTR for rlk: `ACKTRConfig` has its hyperparameters."""

from rlk_acktr.config import ACKTRConfig

__all__ = ["ACKTRConfig"]
