"""Mean and variance of what has been seen so far."""

from rlk_baselines.common.running_mean_std import RunningMeanStd

__all__ = [
    "RunningMeanStd",
]
