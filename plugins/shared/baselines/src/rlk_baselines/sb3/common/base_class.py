"""The class above all models."""

from __future__ import annotations

from typing import Any

from rlk_baselines.environments.ids import make_by_id
from rlk_baselines.sb3.algorithm import BaseAlgorithm

__all__ = ["BaseAlgorithm", "maybe_make_env"]


def maybe_make_env(env: Any, verbose: int) -> Any:
    """An environment: the one that is given, or that of an id, of which a line tells if asked."""
    if not isinstance(env, str):
        return env
    if verbose > 0:
        print(f"Making the environment {env!r}")
    return make_by_id(env)
