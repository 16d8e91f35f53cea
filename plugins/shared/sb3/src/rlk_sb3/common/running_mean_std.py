"""`RunningMeanStd`: the running mean and variance of all data so far."""

from rlk_baselines.common.running_mean_std import RunningMeanStd

__all__ = [
    "RunningMeanStd",
]
