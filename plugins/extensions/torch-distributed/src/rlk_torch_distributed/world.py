"""torch.distributed: initialised once per process, and only if a launcher started several ranks.

Nothing here imports torch at the top, because planning a run on one rank does not need it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import time
from collections.abc import Iterator
from datetime import timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import attrs

from rlk.errors import PlanError
from rlk_ranks.world import OtherRankEnded

if TYPE_CHECKING:
    import torch
    from torch import Tensor

#: Variables that torchrun, and other launchers of torch.distributed, set for every rank.
VARIABLES = ("WORLD_SIZE", "RANK", "MASTER_ADDR", "MASTER_PORT")
#: The time limit for waiting: evaluations are rank 0's, and a death is noticed without it.
PATIENCE = timedelta(days=7)
#: gloo's messages if the process at the other end of a connection is gone.
GONE = ("connection closed", "connection reset", "broken pipe", "connection refused")


@attrs.define
class TorchWorld:
    """All ranks (`rlk_ranks.world.World`).

    Values and CPU tensors are sent by gloo, GPU tensors by NCCL.

    Attributes:
        dist: the module `torch.distributed`.
        group: a separate process group of the plugin; None when it was left.
        rank, size: of this process in it.
    """

    name = "torch-distributed"
    share_gpus = False  # NCCL refuses it

    dist: Any
    group: Any
    rank: int
    size: int

    def library(self) -> str:
        import torch

        return f"torch {torch.__version__}, {self.dist.get_backend(self.group)}"

    def carrier(self, device: torch.device) -> torch.device | str:
        return device if device.type == "cuda" else "cpu"

    def sum_up(self, tensor: Tensor) -> None:
        """The sum over ranks of a contiguous float tensor; bit-equal on all ranks.

        The all-reduces of gloo and NCCL add up each part once and pass the sum on.
        """
        with _unless_gone():
            self.dist.all_reduce(tensor, group=self.group)

    def largest(self, number: int) -> int:
        import torch

        found = torch.tensor(number)
        with _unless_gone():
            self.dist.all_reduce(found, op=self.dist.ReduceOp.MAX, group=self.group)
        return int(found)

    def gather(self, value: Any) -> list[Any]:
        found: list[Any] = [None] * self.size
        with _unless_gone():
            self.dist.all_gather_object(found, value, group=self.group)
        return found

    def broadcast(self, value: Any) -> Any:
        found = [value]
        with _unless_gone():
            self.dist.broadcast_object_list(found, group=self.group)
        return found[0]

    def send(self, value: Any) -> None:
        with _unless_gone():
            self.dist.send_object_list([value], dst=0, group=self.group)

    def receive(self, rank: int) -> Any:
        found = [None]
        with _unless_gone():
            self.dist.recv_object_list(found, src=rank, group=self.group)
        return found[0]

    def all_arrive(self, seconds: float) -> bool:
        import torch

        # Not an all-reduce: it would be matched with one that a rank makes which goes on.
        found = [torch.empty(1) for _ in range(self.size)]
        work = self.dist.all_gather(found, torch.zeros(1), group=self.group, async_op=True)
        until = time.monotonic() + seconds
        while not work.is_completed():
            if time.monotonic() > until:
                return False
            time.sleep(0.01)
        try:
            work.wait()
        except RuntimeError:  # a rank is gone
            return False
        return True

    def watch(self) -> None:
        """The launcher itself reports a death, with the rank."""

    def release(self) -> None:
        """Does nothing, because there is no watchdog."""

    def abort(self, code: int) -> None:
        """End this rank now; the other ranks and the launcher notice that."""
        os._exit(code)

    def is_over(self) -> bool:
        return not self.dist.is_initialized()

    def leave(self) -> None:
        """End the group and its threads, which must not outlive the interpreter.

        They take the GIL to free a tensor. A thread that requests it after the interpreter has
        ended is ended there, in C++ code that does not allow this, and the process aborts.
        """
        group, self.group = self.group, None
        if self.dist.is_initialized():  # if not, the program has ended all groups
            self.dist.destroy_process_group(group)


@cache
def world() -> TorchWorld | None:
    """The ranks that were launched together; None for one alone, and then torch is not imported.

    If the program has already made a process group, it is used to make the plugin's own.

    Raises:
        PlanError: if the launcher set no address, or torch was built without torch.distributed.
    """
    size = os.environ.get("WORLD_SIZE", "1")
    if not size.isdigit() or int(size) == 1:
        return None
    missing = [name for name in VARIABLES if name not in os.environ]
    if missing:
        raise PlanError(
            f"plugin 'torch-distributed' (rlk-torch-distributed): WORLD_SIZE is {size}, but "
            f"{' and '.join(missing)} are not set. Start the ranks with torchrun."
        )
    import torch.distributed as dist

    if not dist.is_available():
        raise PlanError(
            "plugin 'torch-distributed' (rlk-torch-distributed): this build of torch has no "
            "torch.distributed. Use --plugin mpi, or another build."
        )
    if not dist.is_initialized():
        dist.init_process_group(_backend(dist), timeout=PATIENCE)
        atexit.register(_end_all_groups, dist)
    return join(dist)


def join(dist: Any) -> TorchWorld:
    """All ranks of the default process group, in a separate group of the plugin.

    The default group may outlive the program, because modules keep it as the default of an
    argument (`torch.distributed.nn` does); nothing keeps this one.
    """
    group = dist.new_group(backend=_backend(dist), timeout=PATIENCE)
    ranks = TorchWorld(dist, group, dist.get_rank(), dist.get_world_size())
    atexit.register(ranks.leave)
    return ranks


def _backend(dist: Any) -> str:
    import torch

    has_nccl = torch.cuda.is_available() and dist.is_nccl_available()
    return "cpu:gloo,cuda:nccl" if has_nccl else "gloo"


def _end_all_groups(dist: Any) -> None:
    if dist.is_initialized():
        dist.destroy_process_group()


@contextlib.contextmanager
def _unless_gone() -> Iterator[None]:
    """Raise OtherRankEnded instead of gloo's exception when a process is gone."""
    try:
        yield
    except RuntimeError as error:
        if any(words in str(error).lower() for words in GONE):
            raise OtherRankEnded("another rank has ended.") from error
        raise
