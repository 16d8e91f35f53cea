"""`VecCheckNan`: what is no number is found where it appears."""

from rlk_baselines.common.vec_env.vec_check_nan import VecCheckNan

__all__ = ["VecCheckNan"]
