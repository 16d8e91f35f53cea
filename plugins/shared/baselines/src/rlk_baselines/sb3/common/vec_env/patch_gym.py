"""Gives environments with gym's interface that of Gymnasium, as vectors and models also do."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_baselines.environments.five_values import FiveValues
from rlk_old_gym.interface import is_old
from rlk_old_gym.spaces import as_gymnasium_space as _convert_space

__all__ = ["_convert_space", "_patch_env"]


def _patch_env(env: Any) -> Any:
    """An environment with Gymnasium's interface: the given one, if it has it already."""
    is_gymnasiums = isinstance(env, gymnasium.Env) and not is_old(env)
    return env if is_gymnasiums else FiveValues(env)
