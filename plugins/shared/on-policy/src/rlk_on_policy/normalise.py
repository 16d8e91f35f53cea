"""Advantages of zero mean and unit variance, over the batches of all ranks."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor


def normalised(advantage: Tensor, mean: Callable[[Tensor], Tensor]) -> Tensor:
    """(A - E[A]) / (std[A] + 1e-8), float [B].

    Args:
        advantage: float [B], of this rank.
        mean: the mean of a tensor over ranks (`run.communicator.mean`).
    """
    centred = advantage - mean(advantage.mean())
    return centred / (mean(centred.square().mean()).sqrt() + 1e-8)
