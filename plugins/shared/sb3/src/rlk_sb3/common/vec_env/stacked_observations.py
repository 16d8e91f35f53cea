"""`StackedObservations`: stacks the latest frames of N environments along an axis."""

from rlk_baselines.common.vec_env.stacked_observations import StackedObservations

__all__ = ["StackedObservations"]
