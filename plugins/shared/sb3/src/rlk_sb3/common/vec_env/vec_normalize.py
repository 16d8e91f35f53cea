"""`VecNormalize`: normalises observations and rewards by running statistics."""

from rlk_baselines.common.vec_env.vec_normalize import VecNormalize

__all__ = ["VecNormalize"]
