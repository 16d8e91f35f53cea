"""Runs numpy code on tensors.

The code that converts a policy's actions to those of the environment is written in numpy
(`Distribution.env_action`, `rlk_action_scaling.scaled`). Called with a `TensorArray`, the same code
becomes a part of the traced program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.lib.mixins import NDArrayOperatorsMixin
from torch import Tensor

from rlk.errors import RlkError

_FUNCTIONS: dict[np.ufunc, Callable[..., Tensor]] = {
    np.absolute: torch.abs,
    np.add: torch.add,
    np.exp: torch.exp,
    np.floor: torch.floor,
    np.maximum: torch.maximum,
    np.minimum: torch.minimum,
    np.multiply: torch.mul,
    np.negative: torch.neg,
    np.rint: torch.round,
    np.sign: torch.sign,
    np.subtract: torch.sub,
    np.tanh: torch.tanh,
    np.true_divide: torch.true_divide,
}


def on_tensors(function: Callable[[Any], Any]) -> Callable[[Tensor], Tensor]:
    """A function of one array, as a function of a tensor.

    The returned function raises RlkError for an operation that `TensorArray` does not support.
    """

    def called(tensor: Tensor) -> Tensor:
        found = function(TensorArray(tensor))
        if not isinstance(found, TensorArray):
            raise RlkError(
                f"{getattr(function, '__qualname__', function)} returned {type(found).__name__}, "
                "not the array that it computes of its argument"
            )
        return found.tensor

    return called


class TensorArray(NDArrayOperatorsMixin):
    """A tensor that supports numpy's arithmetic.

    Attributes:
        tensor: the tensor that is used as an array.
    """

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def shape(self) -> tuple[Any, ...]:
        return tuple(self.tensor.shape)

    @property
    def ndim(self) -> int:
        return self.tensor.ndim

    def __getitem__(self, index: Any) -> TensorArray:
        return TensorArray(self.tensor[index])

    def reshape(self, *shape: Any) -> TensorArray:
        return TensorArray(self.tensor.reshape(*shape))

    def clip(self, low: Any, high: Any, out: None = None) -> TensorArray:
        """Called by `np.clip`."""
        if out is not None:
            raise RlkError("numpy's clip with out=, which cannot be traced")
        return TensorArray(
            torch.minimum(torch.maximum(self.tensor, self._own(low)), self._own(high))
        )

    def astype(self, dtype: Any, copy: bool = True) -> TensorArray:
        return TensorArray(self.tensor.to(torch_dtype(dtype)))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RlkError("a function of numpy beyond arithmetic, which cannot be traced")

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *given: Any, out: Any = None, **others: Any
    ) -> TensorArray:
        function = _FUNCTIONS.get(ufunc)
        if function is None or method != "__call__" or others:
            raise RlkError(f"numpy's {ufunc.__name__}, which cannot be traced")
        made = function(*map(self._own, given))
        if out is None:
            return TensorArray(made)
        (target,) = out
        if not isinstance(target, TensorArray):
            raise RlkError(f"numpy's {ufunc.__name__} into an array, which cannot be traced")
        target.tensor = made.to(target.tensor.dtype)
        return target

    def _own(self, value: Any) -> Tensor:
        """An operand, as a tensor on the same device."""
        if isinstance(value, TensorArray):
            return value.tensor
        return torch.tensor(value, device=self.tensor.device)


def torch_dtype(dtype: Any) -> torch.dtype:
    """The torch dtype for a numpy dtype."""
    return torch.from_numpy(np.zeros(0, dtype)).dtype
