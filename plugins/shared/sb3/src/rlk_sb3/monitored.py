"""Puts a bare environment into a `Monitor`, so that infos have episode statistics."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_baselines.environments.ids import make_by_id
from rlk_old_gym.interface import is_old, layers
from rlk_sb3.common.monitor import Monitor


def monitored(env: Any) -> Any:
    """A bare environment in a `Monitor`; anything else is returned as it is.

    Args:
        env: an environment or an id. An environment in a `Monitor`, a vector, and an environment
            with gym's interface do not change.
    """
    if isinstance(env, str):
        env = make_by_id(env)
    is_bare = isinstance(env, gymnasium.Env) and not is_old(env)
    if not is_bare or any(isinstance(layer, Monitor) for layer in layers(env)):
        return env
    return Monitor(env)
