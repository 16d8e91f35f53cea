"""The vector environment backend `mpi-workers`: the other ranks of an MPI job host environments."""

from __future__ import annotations

from typing import Any

__all__ = ["MpiWorkersVecEnv", "host", "release"]


def __getattr__(name: str) -> Any:
    if name == "MpiWorkersVecEnv":
        from rlk_mpi_workers.vec_env import MpiWorkersVecEnv

        return MpiWorkersVecEnv
    if name == "host":
        from rlk_mpi_workers.worker import host

        return host
    if name == "release":
        from rlk_mpi_workers.learner import release

        return release
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
