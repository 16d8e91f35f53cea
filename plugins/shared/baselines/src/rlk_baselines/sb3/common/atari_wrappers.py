"""DeepMind's preprocessing of Atari games, as one wrapper with Gymnasium's interface."""

from rlk_baselines.sb3.common.env_util import AtariWrapper

__all__ = ["AtariWrapper"]
