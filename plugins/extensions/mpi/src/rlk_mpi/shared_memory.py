"""Leaves nothing in /dev/shm, however the ranks end.

MPICH keeps the memory that the ranks of a machine share in a file, `mpich_shm_*`, and deletes it
when MPI ends: never, if ranks are killed. Once all ranks have it open the name is needed no more,
and without a name the system frees the memory with the last process. (Open MPI and UCX do so.)
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk_mpi.world import MpiWorld


_MAPPED = re.compile(r"(/dev/shm/mpich_shm_\w+)$", re.MULTILINE)
_OWN = Path("/proc/self/maps")


def named() -> set[str]:
    """Files of MPICH that this process shares with other ranks and that still have a name."""
    return set(_MAPPED.findall(_OWN.read_text())) if _OWN.exists() else set()


def remove_names(ranks: MpiWorld) -> None:
    """Take away the names of what the ranks share, on every machine; called by all ranks."""
    here = ranks.comm.Split_type(ranks.mpi.COMM_TYPE_SHARED)
    here.Barrier()  # all ranks of this machine have opened it
    if here.rank == 0:
        for path in named():
            with contextlib.suppress(OSError):  # an MPICH that has removed it itself
                os.unlink(path)
    here.Barrier()
    here.Free()
