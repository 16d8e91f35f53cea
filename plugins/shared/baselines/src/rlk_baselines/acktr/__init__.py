"""`ACKTR`."""

from rlk_baselines.acktr.acktr import ACKTR

__all__ = ["ACKTR"]
