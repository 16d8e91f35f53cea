"""`ACER`."""

from rlk_baselines.acer.acer_simple import ACER

__all__ = ["ACER"]
