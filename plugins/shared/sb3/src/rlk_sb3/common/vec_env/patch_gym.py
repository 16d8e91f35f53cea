"""Gives environments with gym's interface that of Gymnasium, as vectors and models also do."""

from rlk_baselines.environments.five_values import with_five_values as _patch_env
from rlk_old_gym.spaces import as_gymnasium_space as _convert_space

__all__ = ["_convert_space", "_patch_env"]
