"""What a message library for ranks must be able to do, and how ranks end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from rlk.errors import RlkError

if TYPE_CHECKING:
    import torch
    from torch import Tensor


class World(Protocol):
    """All ranks that were launched together, from the view of one of them.

    Every method but `send`, `receive`, `watch`, `release` and `abort` is called by all ranks, in
    the same order. If a method finds that another rank has ended, it raises `OtherRankEnded`, or
    never returns because the launcher ends this process.
    """

    name: str  #: of the plugin that it belongs to
    rank: int  #: of this process
    size: int  #: the number of ranks, at least 2
    share_gpus: bool  #: whether several of them can compute on one GPU

    def library(self) -> str:
        """The library's name and version, for messages."""

    def carrier(self, device: torch.device) -> torch.device | str:
        """The device on which a tensor of that device can be sent."""

    def sum_up(self, tensor: Tensor) -> None:
        """The sum over ranks of a contiguous float tensor on a carrier, in place.

        It is bit-equal on all ranks.
        """

    def largest(self, number: int) -> int:
        """The largest of the ranks' numbers; `LEFT` is that of a rank whose program ends."""

    def gather(self, value: Any) -> list[Any]:
        """Every rank's value, on every rank."""

    def broadcast(self, value: Any) -> Any:
        """Rank 0's value, on every rank."""

    def send(self, value: Any) -> None:
        """Send a value to rank 0, which calls `receive`."""

    def receive(self, rank: int) -> Any:
        """On rank 0: the value that a rank sends."""

    def all_arrive(self, seconds: float) -> bool:
        """Whether all ranks call this within so many seconds of each other."""

    def watch(self) -> None:
        """From now on, report the death of a rank, if the launcher does not do so."""

    def release(self) -> None:
        """This rank ends as planned, and must not be reported as dead."""

    def abort(self, code: int) -> None:
        """End all ranks now; does not return."""

    def is_over(self) -> bool:
        """Whether the program itself has ended the message library."""


#: The number with which a rank whose program ends answers the others in `World.largest`.
LEFT = 100


class OtherRankEnded(RlkError):
    """This rank cannot continue, because another one has ended; that one's message says why."""


def title(world: World) -> str:
    """The name of the plugin, for messages."""
    return f"plugin {world.name!r} (rlk-{world.name})"
