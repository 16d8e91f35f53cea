"""`VecNormalize`: observations and rewards by what has been seen of them."""

from rlk_baselines.common.vec_env.vec_normalize import VecNormalize

__all__ = ["VecNormalize"]
