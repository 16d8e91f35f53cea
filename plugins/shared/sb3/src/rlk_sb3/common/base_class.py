"""The base class of all models, and `maybe_make_env`."""

from __future__ import annotations

from typing import Any

from rlk_baselines.environments.ids import make_by_id
from rlk_sb3.algorithm import BaseAlgorithm

__all__ = ["BaseAlgorithm", "maybe_make_env"]


def maybe_make_env(env: Any, verbose: int) -> Any:
    """The given environment, or the one of an id; above 0, `verbose` prints a line about that."""
    if not isinstance(env, str):
        return env
    if verbose > 0:
        print(f"Making the environment {env!r}")
    return make_by_id(env)
