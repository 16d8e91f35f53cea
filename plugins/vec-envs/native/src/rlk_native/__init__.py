"""The vector environment backend `native`: environments with a vectorised implementation."""

from __future__ import annotations

from typing import Any

__all__ = ["NativeVecEnv"]


def __getattr__(name: str) -> Any:
    if name == "NativeVecEnv":
        from rlk_native.vec_env import NativeVecEnv

        return NativeVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
