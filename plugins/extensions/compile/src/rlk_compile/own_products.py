"""Which products of a compiled graph our own kernel takes from the library."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, fx
from torch._inductor.custom_graph_pass import CustomGraphPass, get_hash_for_files

#: Products that our own kernel takes: of so many multiplications at least, for a call of it costs
#: 2 µs more than one of the library's; and by matrices of so many columns (a panel) up to so many
#: numbers (above, a library that also copies the other operand is as good). 256x256 by 256x256
#: takes 0.88 of the library's time, 0.79 beside a busy neighbour; 2048x64 by 64x64 0.6 to 0.8.
WORK, COLUMNS, NUMBERS = 1 << 19, 32, 1 << 20


class OwnProducts(CustomGraphPass):
    """Puts our own product in the place of the library's, where it is the sooner one.

    It is a pass over what inductor makes of the graph: there are the products of the gradient too.

    Args:
        native: operators `product` and `grouped_product`.
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    def __call__(self, graph: fx.Graph) -> None:
        aten, networks = torch.ops.aten, torch.ops.rlk_networks
        own = {aten.mm.default: self._native.product, aten.bmm.default: self._native.product}
        if hasattr(networks, "grouped_product"):  # somebody loaded rlk-networks
            own[networks.grouped_product.default] = self._native.grouped_product
        for target, replacement in own.items():
            for node in graph.find_nodes(op="call_function", target=target):
                x, w, *_ = (argument.meta["val"] for argument in node.args)
                if suits(x, w):
                    node.target = replacement.default

    def uuid(self) -> object:
        """What torch's cache of compiled graphs tells passes apart by."""
        return get_hash_for_files((__file__,)), WORK, COLUMNS, NUMBERS


def suits(x: Tensor, w: Tensor) -> bool:
    """Whether our own product is the sooner one."""
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
