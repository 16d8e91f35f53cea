"""The layers of a network, found by the products that it asks torch to compute.

No layer has to declare itself: every multiplication of rows by a parameter of the group with one of
the functions in `READERS`, in any module, is found while the loss is evaluated. Module hooks would
miss policies that apply cached weights without calling a module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from rlk_kfac.layouts import Convolution, Copies, Dense, Layout, Repeated

#: A layer's weight and bias as numbers of parameters in the group; None where there is none.
Key = tuple[int | None, int | None]


class Call(NamedTuple):
    """The operands of one call of torch."""

    layout: Layout
    x: Tensor
    weight: Tensor | None
    bias: Tensor | None


@dataclass(frozen=True)
class Product:
    """A call with a weight or a repeated vector of the group.

    Attributes:
        layout: of its tensors. x: the input.
        weight, bias: numbers of parameters in the group, None if there is none.
        edge: the graph edge of the output's gradient, valid even if the output is overwritten.
    """

    layout: Layout
    x: Tensor
    weight: int | None
    bias: int | None
    edge: GradientEdge

    @property
    def key(self) -> Key:
        """The layer that it is a call of."""
        return self.weight, self.bias


class Products(TorchFunctionMode):
    """Collects, while it is entered, every product with a parameter of these in `found`."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        super().__init__()
        self.found: list[Product] = []
        self._numbers = {id(parameter): i for i, parameter in enumerate(parameters)}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        read = READERS.get(func)
        if read is not None and isinstance(out, Tensor) and out.requires_grad:
            self._note(read(*args, **kwargs), out)
        return out

    def _note(self, call: Call | None, out: Tensor) -> None:
        if call is None:
            return
        weight, bias = self._numbers.get(id(call.weight)), self._numbers.get(id(call.bias))
        is_of_group = bias if call.weight is None else weight
        if is_of_group is not None:
            edge = get_gradient_edge(out)
            self.found.append(Product(call.layout, call.x.detach(), weight, bias, edge))


# ---- torch's products, each with the signature that it has there ---------------------------------


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Call:
    return Call(Dense(transposed=True), input, weight, bias)


def _addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Call | None:
    return Call(Dense(transposed=False), mat1, mat2, input) if beta == alpha == 1 else None


def _matmul(input: Tensor, other: Tensor) -> Call | None:
    is_matrix = isinstance(other, Tensor) and other.dim() == 2
    return Call(Dense(transposed=False), input, other, None) if is_matrix else None


def _baddbmm(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: float = 1, alpha: float = 1
) -> Call | None:
    return Call(Copies(), batch1, batch2, input) if beta == alpha == 1 else None


def _conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Call | None:
    if groups != 1 or isinstance(padding, str) or input.dim() != 4:
        return None
    kernel = tuple(weight.shape[2:])
    layout = Convolution(kernel, _pair(stride), _pair(padding), _pair(dilation))
    return Call(layout, input, weight, bias)


def _pair(value: Any) -> tuple[int, ...]:
    pair = (value,) if isinstance(value, int) else tuple(value)
    return pair * 2 if len(pair) == 1 else pair


def _expand_as(input: Tensor, other: Tensor) -> Call | None:
    return Call(Repeated(), other, None, input) if input.dim() == 1 else None


READERS: Mapping[Callable[..., Any], Callable[..., Call | None]] = {
    F.linear: _linear,
    F.conv2d: _conv2d,
    torch.addmm: _addmm,
    torch.baddbmm: _baddbmm,
    torch.matmul: _matmul,
    torch.mm: _matmul,
    torch.Tensor.matmul: _matmul,
    torch.Tensor.mm: _matmul,
    torch.Tensor.__matmul__: _matmul,
    torch.Tensor.expand_as: _expand_as,
}
