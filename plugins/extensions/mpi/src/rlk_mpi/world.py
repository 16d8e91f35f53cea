"""MPI itself: entered once per process, and only where a launcher started several ranks.

Importing `mpi4py.MPI` initialises MPI, so nothing here imports it at the top.
"""

from __future__ import annotations

import importlib.util
import os
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Mapping

#: What launchers set for every rank: MPICH, Intel and Microsoft; PMIx (Slurm); Open MPI; MVAPICH.
RANK = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
SIZE = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")
INSTALL = "pip install 'rlk-mpi[mpi]' brings mpi4py and MPICH."


@attrs.frozen
class World:
    """All ranks.

    Attributes:
        mpi: the module `mpi4py.MPI`. comm: a communicator of ours over all ranks.
        rank, size: of this process in it.
    """

    mpi: Any
    comm: Any
    rank: int
    size: int

    def mean(self, array: Any) -> None:
        """The mean over ranks of a contiguous float array, in place; bit-equal on all ranks.

        MPI lets ranks add in different orders. The all-reduces of MPICH and Open MPI do not make
        use of that: each part is added up once and passed on, or in pairs, and a + b = b + a.
        """
        self.comm.Allreduce(self.mpi.IN_PLACE, array)
        array /= self.size

    def abort(self, code: int) -> None:
        """End all ranks now; does not return."""
        self.mpi.COMM_WORLD.Abort(code)


@cache
def world() -> World | None:
    """The ranks that were launched together; None for one alone, and then MPI is not entered.

    Raises:
        PlanError: if mpi4py or an MPI library is missing, or the launcher is that of another MPI.
    """
    if not launched(os.environ):
        return None
    if importlib.util.find_spec("mpi4py") is None:
        raise PlanError(f"plugin 'mpi' (rlk-mpi) needs mpi4py, which is not installed. {INSTALL}")
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        cause = str(error).splitlines()[0]
        raise PlanError(
            f"plugin 'mpi' (rlk-mpi): mpi4py finds no MPI library ({cause}). {INSTALL}"
        ) from None
    comm = MPI.COMM_WORLD.Dup()
    expected = launched_size(os.environ)
    if comm.size == 1 and expected > 1:
        library = MPI.Get_library_version().split("\n")[0].strip()
        raise PlanError(
            f"plugin 'mpi' (rlk-mpi): {expected} processes were launched, and each sees itself "
            f"alone: mpi4py uses {library}, the launcher belongs to another MPI. Take the mpirun "
            "beside your python, and install only one of mpich and openmpi."
        )
    return World(MPI, comm, comm.rank, comm.size) if comm.size > 1 else None


def launched(environment: Mapping[str, str]) -> bool:
    """Whether a launcher of MPI started this process."""
    return any(name in environment for name in RANK)


def launched_size(environment: Mapping[str, str]) -> int:
    """How many processes it started; 1 if it does not say."""
    found = [environment[name] for name in SIZE if name in environment]
    return int(found[0]) if found and found[0].isdigit() else 1
