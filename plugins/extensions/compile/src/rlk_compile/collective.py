"""Averages over ranks as an operator that a graph may contain."""

from __future__ import annotations

import itertools
import weakref
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

if TYPE_CHECKING:
    from rlk.protocols import Communicator

#: An operator takes only tensors and numbers, so a communicator is passed by its number.
_COMMUNICATORS: weakref.WeakValueDictionary[int, Traceable] = weakref.WeakValueDictionary()
_NUMBERS = itertools.count()


@torch.library.custom_op("rlk_compile::mean", mutates_args=())
def _mean(tensor: Tensor, communicator: int) -> Tensor:
    averaged = _COMMUNICATORS[communicator].inner.mean(tensor)
    averaged = averaged.to(_dtype_of_mean(tensor.dtype)).contiguous()  # as the graph is told
    # An operator must not return its own input.
    return averaged.clone() if averaged.data_ptr() == tensor.data_ptr() else averaged


@_mean.register_fake
def _(tensor: Tensor, communicator: int) -> Tensor:
    return torch.empty(tensor.shape, dtype=_dtype_of_mean(tensor.dtype), device=tensor.device)


def _dtype_of_mean(dtype: torch.dtype) -> torch.dtype:
    return dtype if dtype.is_floating_point else torch.float32


class Traceable:
    """A communicator whose `mean` is one opaque operator for compilers.

    All ranks compile the same graph, so they meet in the same order.
    """

    def __init__(self, inner: Communicator) -> None:
        self.inner = inner
        self.rank, self.size = inner.rank, inner.size
        self._number = next(_NUMBERS)
        _COMMUNICATORS[self._number] = self

    def mean(self, tensor: Tensor) -> Tensor:
        if not torch.compiler.is_compiling():
            return self.inner.mean(tensor)
        return _mean(tensor, self._number)

    def agree(self, value: Any) -> Any:
        return self.inner.agree(value)

    def __getattr__(self, name: str) -> Any:
        """Everything else is the communicator's."""
        return getattr(self.inner, name)
