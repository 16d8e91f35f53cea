"""Checks that MPICH has room in /dev/shm, and that nothing is left there, however the ranks end.

The ranks of a machine share memory through a file, `mpich_shm_*`, which MPICH deletes when MPI
ends. If ranks are killed, the file would remain. Its name is therefore removed as soon as all ranks
have opened it; the system then frees the memory when the last process ends. (Open MPI and UCX do
the same with their files.)
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import PlanError

if TYPE_CHECKING:
    from rlk_mpi.world import MpiWorld

#: Memory that MPICH 5 needs for each rank of a machine, and that UCX, which sends its messages
#: between machines, needs in addition (measured with 2 to 32 ranks: 1,057,344 and about 4,335,000
#: bytes).
MPICH_BYTES, UCX_BYTES = 1_060_000, 4_400_000
_PLACE = Path("/dev/shm")
#: The variable in which MPICH's launcher says how many ranks of the job are on this machine.
_RANKS_HERE = "MPI_LOCALNRANKS"
_MAPPED = re.compile(r"(/dev/shm/mpich_shm_\w+)$", re.MULTILINE)
_OWN = Path("/proc/self/maps")


def make_room(environment: MutableMapping[str, str]) -> None:
    """Check the free space before MPI is initialised, which crashes if /dev/shm is full.

    If there is only room for MPICH (a container has 64 MB by default), UCX is told not to use
    /dev/shm.

    Args:
        environment: the variables of this process.

    Raises:
        PlanError: if there is not even room for MPICH.
    """
    if not environment.get(_RANKS_HERE, "").isdigit() or not _PLACE.exists():
        return
    ranks, place = int(environment[_RANKS_HERE]), os.statvfs(_PLACE)
    free = place.f_bavail * place.f_frsize
    if free < ranks * MPICH_BYTES:
        raise PlanError(
            f"plugin 'mpi' (rlk-mpi): {_PLACE} has {free / 1e6:.1f} MB free, and MPICH takes "
            f"{ranks * MPICH_BYTES / 1e6:.1f} MB of it for {ranks} ranks. Remove what jobs that "
            "were killed have left (mpich_shm_*, ucx_shm_*), or give a container more of it: "
            "docker run --shm-size 1g."
        )
    if free < ranks * (MPICH_BYTES + UCX_BYTES):
        environment.setdefault("UCX_TLS", "^posix")


def named() -> set[str]:
    """Paths of MPICH's files that this process has opened and that still have a name."""
    return set(_MAPPED.findall(os.fsdecode(_OWN.read_bytes()))) if _OWN.exists() else set()


def remove_names(ranks: MpiWorld) -> None:
    """Remove the names of the shared files, on every machine; called by all ranks."""
    here = ranks.comm.Split_type(ranks.mpi.COMM_TYPE_SHARED)
    here.Barrier()  # now all ranks of this machine have opened the file
    if here.rank == 0:
        for path in named():
            with contextlib.suppress(OSError):  # MPICH may have removed it itself
                os.unlink(path)
    here.Barrier()
    here.Free()
