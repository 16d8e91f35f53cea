"""The vector environment backend `mpi-workers`: the other ranks of an MPI job host environments."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_mpi_workers.learner import release as release
    from rlk_mpi_workers.vec_env import MpiWorkersVecEnv as MpiWorkersVecEnv
    from rlk_mpi_workers.worker import host as host
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "MpiWorkersVecEnv": "vec_env",
            "host": "worker",
            "release": "learner",
        },
    )
