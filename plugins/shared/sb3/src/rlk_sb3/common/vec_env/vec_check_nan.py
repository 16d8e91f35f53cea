"""`VecCheckNan`: finds where NaN and infinity enter the training."""

from rlk_baselines.common.vec_env.vec_check_nan import VecCheckNan

__all__ = ["VecCheckNan"]
