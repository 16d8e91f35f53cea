"""Puts a bare environment into a `Monitor`, so that infos have its episodes."""

from __future__ import annotations

from typing import Any

import gymnasium

from rlk_baselines.environments.ids import make_by_id
from rlk_old_gym.interface import is_old, layers
from rlk_wrappers.stable_baselines import Monitor


def monitored(env: Any) -> Any:
    """An environment in a `Monitor`, or whatever else was given.

    Args:
        env: an environment or an id. One that is in a `Monitor` already, a vector, and an
            environment of gym's interface stay as they are.
    """
    if isinstance(env, str):
        env = make_by_id(env)
    is_bare = isinstance(env, gymnasium.Env) and not is_old(env)
    if not is_bare or any(isinstance(layer, Monitor) for layer in layers(env)):
        return env
    return Monitor(env)
