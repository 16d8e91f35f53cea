"""The vector environment backend `dummy`: all environments in this process, one after the other."""

from __future__ import annotations

from typing import Any

__all__ = ["DummyVecEnv"]


def __getattr__(name: str) -> Any:
    if name == "DummyVecEnv":
        from rlk_dummy.vec_env import DummyVecEnv

        return DummyVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
