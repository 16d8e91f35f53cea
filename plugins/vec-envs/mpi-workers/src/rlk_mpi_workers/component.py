"""The component `mpi-workers`."""

from __future__ import annotations

from rlk.component import Component
from rlk_mpi_workers.config import MpiWorkersConfig

component = Component(
    name="mpi-workers",
    factory="rlk_mpi_workers.vec_env:backend",
    hooks="rlk_mpi_workers.hooks:MpiWorkersHooks",
    connects="rlk_mpi.extension:LAUNCH.enter",
    summary="steps environments on the other ranks of mpirun -n 4, on one machine or several",
    config=MpiWorkersConfig,
)
