"""MPI itself: initialised once per process, and only if a launcher started several ranks.

Importing `mpi4py.MPI` initialises MPI, so nothing here imports it at the top.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk.errors import PlanError
from rlk_mpi.shared_memory import make_room, remove_names
from rlk_mpi.waiting import Waiting, cores_of_this_process, waiting_of
from rlk_mpi.watchdog import Watchdog

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch
    from torch import Tensor

#: Variables that launchers set for every rank: MPICH, Intel, Microsoft; PMIx (Slurm); Open MPI;
#: MVAPICH.
RANK = ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "MV2_COMM_WORLD_RANK")
SIZE = ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE")


@attrs.define
class MpiWorld:
    """All ranks (`rlk_ranks.world.World`).

    Attributes:
        mpi: the module `mpi4py.MPI`. comm: a separate communicator over all ranks.
        arrivals: another one for `all_arrive`, as the collectives of one communicator are matched
            in their order, and a rank that failed arrives while others are in a collective.
        rank, size: of this process in them. waiting: how it waits for the others.
    """

    name = "mpi"
    share_gpus = True  # tensors are sent from the CPU

    mpi: Any
    comm: Any
    arrivals: Any
    rank: int
    size: int
    waiting: Waiting
    _watchdog: Watchdog | None = None

    def library(self) -> str:
        name, version = self.mpi.get_vendor()
        return f"{name} {'.'.join(map(str, version))}"

    def carrier(self, device: torch.device) -> torch.device | str:
        return "cpu"

    def sum_up(self, tensor: Tensor) -> None:
        """The sum over ranks of a contiguous float tensor on the CPU; bit-equal on all ranks.

        MPI allows ranks to add in different orders. The all-reduces of MPICH and Open MPI do not do
        so: each part is added up once and passed on, or in pairs, and a + b = b + a.
        """
        self._wait(self.comm.Iallreduce(self.mpi.IN_PLACE, tensor.numpy()))

    def largest(self, number: int) -> int:
        found = np.array([number], np.int32)
        self._wait(self.comm.Iallreduce(self.mpi.IN_PLACE, found, self.mpi.MAX))
        return int(found[0])

    def gather(self, value: Any) -> list[Any]:
        mine, sizes = self.mpi.pickle.dumps(value), np.empty(self.size, np.int32)
        self._wait(self.comm.Iallgather(np.array([len(mine)], np.int32), sizes))
        ends = np.cumsum(sizes)
        found = np.empty(ends[-1], np.uint8)
        self._wait(self.comm.Iallgatherv(mine, (found, sizes, ends - sizes, self.mpi.BYTE)))
        return [self.mpi.pickle.loads(part) for part in np.split(found, ends[:-1])]

    def broadcast(self, value: Any) -> Any:
        return self.comm.bcast(value)

    def send(self, value: Any) -> None:
        self.comm.send(value, dest=0)

    def receive(self, rank: int) -> Any:
        return self.comm.recv(source=rank)

    def all_arrive(self, seconds: float) -> bool:
        barrier, until = self.arrivals.Ibarrier(), time.monotonic() + seconds
        while not barrier.Test():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        return True

    def _wait(self, request: Any) -> None:
        self.waiting.until(request.Test)

    def watch(self) -> None:
        """Leave nothing in /dev/shm if ranks are killed, and name the rank that dies."""
        remove_names(self)
        self._watchdog = Watchdog(self)

    def release(self) -> None:
        if self._watchdog is not None:
            self._watchdog.release()

    def abort(self, code: int) -> None:
        """End all ranks now; does not return."""
        self.mpi.COMM_WORLD.Abort(code)

    def is_over(self) -> bool:
        return bool(self.mpi.Is_finalized())


@cache
def world() -> MpiWorld | None:
    """The ranks that were launched together; None for one alone, and then MPI is not initialised.

    Raises:
        PlanError: if mpi4py or an MPI library is missing, the launcher belongs to another MPI, or
            there is not enough memory for ranks to share.
    """
    if not several_launched(os.environ):
        return None
    if importlib.util.find_spec("mpi4py") is None:
        raise PlanError(
            f"plugin 'mpi' (rlk-mpi) needs mpi4py, which is not installed. {_how_to_install()}"
        )
    make_room(os.environ)
    try:
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        cause = str(error).splitlines()[0]
        raise PlanError(
            f"plugin 'mpi' (rlk-mpi): mpi4py finds no MPI library ({cause}). {_how_to_install()}"
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
    if comm.size == 1:
        return None
    here = comm.Split_type(MPI.COMM_TYPE_SHARED)
    waiting = waiting_of(here.allgather(cores_of_this_process()))
    here.Free()
    return MpiWorld(MPI, comm, comm.Dup(), comm.rank, comm.size, waiting)


def _how_to_install() -> str:
    """What brings mpi4py and an MPI library to this system."""
    if sys.platform == "win32":
        what = "mpi4py; install Microsoft MPI as well, and start with mpiexec -n 4"
    else:
        what = "mpi4py and MPICH"
    return f'pip install "rlk-mpi[mpi]" brings {what}.'


def launched(environment: Mapping[str, str]) -> bool:
    """Whether an MPI launcher started this process."""
    return any(name in environment for name in RANK)


def several_launched(environment: Mapping[str, str]) -> bool:
    """Whether an MPI launcher started this process and does not say that there is only one."""
    said = [environment[name] for name in SIZE if name in environment]
    return launched(environment) and said[:1] != ["1"]


def launched_size(environment: Mapping[str, str]) -> int:
    """The number of processes it started; 1 if it does not say."""
    found = [environment[name] for name in SIZE if name in environment]
    return int(found[0]) if found and found[0].isdigit() else 1
