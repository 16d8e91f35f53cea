"""`SubprocVecEnv`: environments in worker processes."""

from rlk_baselines.common.vec_env.subproc_vec_env import SubprocVecEnv

__all__ = ["SubprocVecEnv"]
