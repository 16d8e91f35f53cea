"""The plan of each rank: one seed for all, and only rank 0 writes files and prints."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

import attrs

from rlk.running.seeding import Streams
from rlk_mpi.world import World, launched, world

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def settle(plan: Plan) -> Plan:
    """The plan of this rank, with a note of how many ranks there are.

    The seed is rank 0's. The other ranks have no run folder, no loggers and print nothing.
    """
    ranks = world()
    if ranks is None:
        return attrs.evolve(plan, notes=(*plan.notes, alone_note()))
    seed = ranks.comm.bcast(Streams(plan.seed).seed)
    processes = ranks.comm.allgather((os.getpid(), socket.gethostname()))
    if ranks.rank == 0:
        note = ranks_note(ranks, plan.n_envs, processes)
        return attrs.evolve(plan, seed=seed, notes=(*plan.notes, note))
    return attrs.evolve(plan, seed=seed, out=None, verbose=0, loggers=())


def alone_note() -> str:
    """The note of a run that has one rank, with the reason."""
    why = "a launcher started one" if launched(os.environ) else "no launcher of MPI started this"
    return f"mpi: one rank ({why}); for four: mpirun -n 4 rlk run … --plugin mpi"


def ranks_note(ranks: World, n_envs: int, processes: list[tuple[int, str]]) -> str:
    """The note of a run that has several ranks.

    It lists every rank's process, because launchers name the process that died and not its rank.
    """
    name, version = ranks.mpi.get_vendor()
    library = f"{name} {'.'.join(map(str, version))}"
    hosts = {host for _, host in processes}
    listed = ", ".join(
        f"{rank}: {process}" + (f" on {host}" if len(hosts) > 1 else "")
        for rank, (process, host) in enumerate(processes)
    )
    return (
        f"mpi: {ranks.size} ranks with {n_envs} environments each, timesteps count all of them "
        f"({library}; rank: process {listed})"
    )
