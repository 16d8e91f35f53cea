"""Which products of a compiled graph our own kernel replaces."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx

from rlk_cpp_libraries import compiler
from rlk_own_products.native import (
    COLUMNS,
    NUMBERS,
    WORK,
    operator,
    suits_this_processor,
    version,
)


class OwnProducts:
    """Replaces the library's products by our own, if they are faster."""

    name = "own-products"

    def __init__(self) -> None:
        self.identity = f"{version()} {WORK} {COLUMNS} {NUMBERS}"
        self._product: Any = None

    def applies(self, device: str) -> bool:
        """Only on a CPU for which it is known to be faster, and with a C++ compiler."""
        return device == "cpu" and suits_this_processor() and compiler() is not None

    def prepare(self) -> None:
        """Build the kernel, or load the one that was built.

        Raises:
            Unbuilt: with the message of the compiler or the loader.
        """
        self._product = operator()

    def __call__(self, graph: fx.Graph) -> None:
        """Replace products, those of gradients too."""
        aten = torch.ops.aten
        for target in (aten.mm.default, aten.bmm.default):
            for node in graph.find_nodes(op="call_function", target=target):
                x, w = (argument.meta["val"] for argument in node.args)
                if suits(x, w):
                    node.target = self._product.default


def suits(x: Tensor, w: Tensor) -> bool:
    """Whether our own product is faster."""
    (rows, depth), columns = x.shape[-2:], w.shape[-1]
    sizes = (rows, depth, columns)
    return (
        x.device.type == "cpu"
        and x.dtype == w.dtype == torch.float32
        and all(isinstance(size, int) for size in sizes)
        and columns >= COLUMNS
        and columns * depth <= NUMBERS
        and rows * columns * depth >= WORK
    )
