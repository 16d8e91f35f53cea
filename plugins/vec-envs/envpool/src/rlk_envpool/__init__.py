"""The vector environment backend `envpool`: environments in the C++ threads of EnvPool."""

from __future__ import annotations

from typing import Any

__all__ = ["EnvPoolVecEnv"]


def __getattr__(name: str) -> Any:
    if name == "EnvPoolVecEnv":
        from rlk_envpool.vec_env import EnvPoolVecEnv

        return EnvPoolVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
