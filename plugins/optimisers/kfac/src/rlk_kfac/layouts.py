"""The layout of a layer's numbers in its tensors: as C copies of `rows @ matrix + bias`.

Shapes: C copies (1 but for batched layers), R rows, I inputs, O outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from torch import Tensor
from torch.nn import functional as F


class Layout(Protocol):
    """Of one product; equal layouts of one weight are calls of one layer."""

    def rows_in(self, x: Tensor) -> Tensor: ...  #: [C, R, I] of what went in
    def rows_out(self, out: Tensor) -> Tensor: ...  #: [C, R, O] of what came out, or its gradient


class WeightLayout(Layout, Protocol):
    """Of a product with a weight."""

    def matrix(self, weight: Tensor) -> Tensor: ...  #: [C, I, O], a view


@dataclass(frozen=True)
class Dense:
    """A weight [I, O], or [O, I] where it is transposed, for any number of leading axes."""

    transposed: bool

    def rows_in(self, x: Tensor) -> Tensor:
        return x.reshape(1, -1, x.shape[-1])

    def rows_out(self, out: Tensor) -> Tensor:
        return out.reshape(1, -1, out.shape[-1])

    def matrix(self, weight: Tensor) -> Tensor:
        return (weight.T if self.transposed else weight).unsqueeze(0)


@dataclass(frozen=True)
class Copies:
    """Weights [C, I, O] for rows [C, R, I]."""

    def rows_in(self, x: Tensor) -> Tensor:
        return x

    def rows_out(self, out: Tensor) -> Tensor:
        return out

    def matrix(self, weight: Tensor) -> Tensor:
        return weight


@dataclass(frozen=True)
class Convolution:
    """A kernel [O, channels, height, width]: every patch under it is a row.

    Grosse and Martens 2016, arXiv 1602.01182, section 3.
    """

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]

    def rows_in(self, x: Tensor) -> Tensor:
        patches = F.unfold(x, self.kernel, self.dilation, self.padding, self.stride)
        return patches.transpose(1, 2).reshape(1, -1, patches.shape[1])

    def rows_out(self, out: Tensor) -> Tensor:
        return out.flatten(2).transpose(1, 2).reshape(1, -1, out.shape[1])

    def matrix(self, weight: Tensor) -> Tensor:
        return weight.flatten(1).T.unsqueeze(0)


@dataclass(frozen=True)
class Repeated:
    """A vector [O] that is repeated in every row: a bias without a weight."""

    def rows_in(self, x: Tensor) -> Tensor:
        return x.new_zeros(1, x.numel() // x.shape[-1], 0)

    def rows_out(self, out: Tensor) -> Tensor:
        return out.reshape(1, -1, out.shape[-1])
