"""Ranks in one process: threads that wait for each other, and one whose other rank has zeros."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import torch
from torch import Tensor

#: How long a rank waits for the others, which never come if they communicate less often.
_TIMEOUT_SECONDS = 10.0


class ThreadRank:
    """The `rlk.protocols.Communicator` of one thread."""

    def __init__(self, rank: int, given: list[Any], barrier: threading.Barrier) -> None:
        self.rank, self.size = rank, len(given)
        self._given, self._barrier = given, barrier

    def gather(self, value: Any) -> list[Any]:
        return self._exchanged("gather", value)

    def mean(self, tensor: Tensor) -> Tensor:
        return torch.stack(self._exchanged("mean", tensor)).mean(0)

    def agree(self, value: Any) -> Any:
        return self._exchanged("agree", value)[0]

    def _exchanged(self, call: str, value: Any) -> list[Any]:
        """What the ranks give, in their order; BrokenBarrierError if they make different calls."""
        copied = value.detach().clone() if isinstance(value, Tensor) else value
        self._given[self.rank] = call, copied
        self._barrier.wait(_TIMEOUT_SECONDS)
        found = list(self._given)
        self._barrier.wait(_TIMEOUT_SECONDS)
        if any(other != call for other, _ in found):
            raise threading.BrokenBarrierError
        return [one for _, one in found]


class OtherRankHasZeros:
    """The communicator of the first of two ranks; the other one has zeros whatever this one has."""

    rank, size = 0, 2

    def mean(self, tensor: Tensor) -> Tensor:
        return tensor / 2

    def agree(self, value: Any) -> Any:
        return value


class OtherRankRefuses(OtherRankHasZeros):
    """Likewise, but the other rank has zeros for numbers alone, and equal tensors of more axes.

    What is averaged as a number is whether a step is accepted: the other rank accepts none.
    """

    def mean(self, tensor: Tensor) -> Tensor:
        return tensor / 2 if tensor.dim() == 0 else tensor


def on_ranks(size: int, work: Callable[[ThreadRank], None]) -> None:
    """Call a function once per rank, at the same time; what it raises first is raised.

    Raises:
        threading.BrokenBarrierError: if ranks communicate a different number of times, or by other
            calls.
    """
    given, barrier = [None] * size, threading.Barrier(size)

    def run(rank: int) -> None:
        try:
            work(ThreadRank(rank, given, barrier))
        except BaseException:
            barrier.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        errors = [each.exception() for each in [pool.submit(run, rank) for rank in range(size)]]
    # The others of a rank that failed are told so by the barrier.
    found = sorted(filter(None, errors), key=lambda one: type(one) is threading.BrokenBarrierError)
    if found:
        raise found[0]
