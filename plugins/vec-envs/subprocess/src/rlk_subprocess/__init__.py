"""The vector environment backend `subprocess`: environments in worker processes, shared memory."""

from __future__ import annotations

from typing import Any

__all__ = ["SubprocVecEnv"]


def __getattr__(name: str) -> Any:
    if name == "SubprocVecEnv":
        from rlk_subprocess.vec_env import SubprocVecEnv

        return SubprocVecEnv
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
