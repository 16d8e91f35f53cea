"""The component `mpi`."""

from __future__ import annotations

from rlk.component import Component
from rlk_ranks.config import RanksConfig

component = Component(
    name="mpi",
    factory="rlk_mpi.extension:mpi",
    summary="trains on several ranks: mpirun -n 4 rlk run --plugin mpi …; any algorithm",
    config=RanksConfig,
    connects="rlk_mpi.extension:LAUNCH.enter",
    only_trains=True,
)
