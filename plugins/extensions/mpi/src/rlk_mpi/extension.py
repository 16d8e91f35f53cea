"""The parts of `mpi`: ranks that train together, and MPI for their messages."""

from __future__ import annotations

from rlk_mpi.world import RANK, world
from rlk_ranks.config import RanksConfig
from rlk_ranks.extension import SeveralRanks
from rlk_ranks.launch import Launch

LAUNCH = Launch(
    name="mpi",
    system="MPI",
    example="mpirun -n 4 rlk run … --plugin mpi",
    variables=RANK,
    world=world,
)


def mpi(config: RanksConfig | None = None) -> SeveralRanks:
    """The hooks of `mpi`."""
    return SeveralRanks(LAUNCH, (config or RanksConfig()).check)
