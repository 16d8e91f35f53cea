"""`DummyVecEnv`: environments that are stepped in this process, one after the other."""

from rlk_baselines.common.vec_env.dummy_vec_env import DummyVecEnv

__all__ = ["DummyVecEnv"]
