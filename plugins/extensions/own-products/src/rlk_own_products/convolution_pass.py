"""Which convolutions of a compiled graph our own kernel replaces."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import fx

from rlk_cpp_libraries import compiler
from rlk_own_products.native import CONVOLUTION, convolutions, suits_this_processor, version

aten = torch.ops.aten
CONVERT = torch.ops.prims.convert_element_type.default
#: Convolutions for our own kernel: at least this many multiplications, and at most this many
#: weights for each output channel, because larger ones were not measured.
WORK, NUMBERS = 1 << 21, 1 << 10
#: Output channels and the rows of weights must both consist of whole vectors, two by two.
COLUMNS = 32
#: No dilation, not transposed, one group: the arguments between stride and the end.
PLAIN = ([0, 0], [1, 1], False, [0, 0], 1)
#: [N, C, H, W] to [N, H, W, C] and back; [O, C, Y, X] to [Y, X, C, O] and back.
LAST, FIRST = (0, 2, 3, 1), (0, 3, 1, 2)
OURS, THEIRS = (2, 3, 1, 0), (3, 2, 0, 1)


class OwnConvolutions:
    """Replaces the library's convolutions and their gradients by our own."""

    name = "own-convolutions"

    def __init__(self) -> None:
        self.identity = f"{version(CONVOLUTION)} {WORK} {NUMBERS}"
        self._own: Any = None

    def applies(self, device: str) -> bool:
        """Only on a CPU for which it is known to be faster, and with a C++ compiler."""
        return device == "cpu" and suits_this_processor() and compiler() is not None

    def prepare(self) -> None:
        """Build the kernel, or load the one that was built.

        Raises:
            Unbuilt: with the message of the compiler or the loader.
        """
        self._own = convolutions()

    def __call__(self, graph: fx.Graph) -> None:
        """Replace convolutions, and the gradients of them that the graph uses."""
        for node in graph.find_nodes(op="call_function", target=aten.convolution.default):
            x, w, bias, stride, *others = node.args
            if bias is not None and suits(x, w, stride, others, node):
                self._exchange_convolution(graph, node, (x, w, bias, stride[0]))
        for node in graph.find_nodes(op="call_function", target=aten.convolution_backward.default):
            gradient, x, w, _, stride, *others, _ = node.args
            if suits(x, w, stride, others, gradient):
                self._exchange_gradients(graph, node, (gradient, x, w, stride[0]))

    def _exchange_convolution(self, graph: fx.Graph, node: fx.Node, of: Sequence[Any]) -> None:
        x, w, bias, stride = of
        with graph.inserting_before(node):
            images, divisor = _images(graph, x)
            operands = images, _permuted(graph, w, OURS), bias, stride, divisor
            made = _call(graph, self._own.convolution.default, *operands)
            node.replace_all_uses_with(_permuted(graph, made, FIRST))
        graph.erase_node(node)

    def _exchange_gradients(self, graph: fx.Graph, node: fx.Node, of: Sequence[Any]) -> None:
        """Each is computed where it is asked for: by the images, the weights, the bias."""
        by = self._by_images, self._by_weights, self._by_bias
        for asked in list(node.users):
            number: Any = asked.args[1]
            with graph.inserting_before(asked):
                asked.replace_all_uses_with(by[number](graph, *of))
            graph.erase_node(asked)
        graph.erase_node(node)

    def _by_images(
        self, graph: fx.Graph, gradient: fx.Node, x: fx.Node, w: fx.Node, stride: int
    ) -> fx.Node:
        operands = _permuted(graph, gradient, LAST), _permuted(graph, w, OURS)
        size = _shape(x)[2:]
        made = _call(graph, self._own.convolution_images.default, *operands, *size, stride)
        return _permuted(graph, made, FIRST)

    def _by_weights(
        self, graph: fx.Graph, gradient: fx.Node, x: fx.Node, w: fx.Node, stride: int
    ) -> fx.Node:
        images, divisor = _images(graph, x)
        operands = images, _permuted(graph, gradient, LAST), *_shape(w)[2:], stride, divisor
        made = _call(graph, self._own.convolution_weights.default, *operands)
        return _permuted(graph, made, THEIRS)

    def _by_bias(
        self, graph: fx.Graph, gradient: fx.Node, x: fx.Node, w: fx.Node, stride: int
    ) -> fx.Node:
        return _call(graph, aten.sum.dim_IntList, gradient, [0, 2, 3])


def suits(
    x: fx.Node, w: fx.Node, stride: Sequence[int], others: Sequence[Any], result: fx.Node
) -> bool:
    """Whether our own convolution of x by w is faster.

    Args:
        others: the arguments of the library's after stride, without those of the gradient alone.
        result: an example of its value, or of its gradient.
    """
    values = [node.meta["val"] for node in (x, w, result)]
    if any(v.device.type != "cpu" or v.dtype != torch.float32 or v.dim() != 4 for v in values):
        return False
    out, channels, rows, columns = _shape(w)
    sizes = [*_shape(x), *_shape(w), *_shape(result)]
    return (
        all(isinstance(size, int) for size in sizes)
        and stride[0] == stride[-1]
        and (*map(_listed, others),) == PLAIN
        and out % COLUMNS == 0
        and columns * channels % COLUMNS == 0
        and rows * columns * channels <= NUMBERS
        and math.prod(_shape(result)) * rows * columns * channels >= WORK
    )


def _images(graph: fx.Graph, x: fx.Node) -> tuple[fx.Node, float]:
    """Images [N, H, W, C] of x [N, C, H, W]: as they were before they became float32 and were
    divided, if they were uint8; and what by."""
    images = _permuted(graph, x, LAST)
    order: Any = x.args[1] if x.target is aten.permute.default else None
    divided = x if order is None else x.args[0]
    if not isinstance(divided, fx.Node) or divided.target is not aten.div.Tensor:
        return images, 1.0
    converted, divisor = divided.args
    if not isinstance(converted, fx.Node) or not isinstance(divisor, (int, float)):
        return images, 1.0
    whole = converted.args[0] if converted.target is CONVERT else None
    if not isinstance(whole, fx.Node) or whole.meta["val"].dtype != torch.uint8:
        return images, 1.0
    if order is not None:
        whole = _permuted(graph, whole, order)
    return _permuted(graph, whole, LAST), float(divisor)


def _listed(value: Any) -> Any:
    return list(value) if isinstance(value, Sequence) else value


def _shape(node: fx.Node) -> tuple[int, ...]:
    return tuple(node.meta["val"].shape)


def _permuted(graph: fx.Graph, node: fx.Node, order: Sequence[int]) -> fx.Node:
    return _call(graph, aten.permute.default, node, list(order))


def _call(graph: fx.Graph, target: Any, *args: Any) -> fx.Node:
    """A call with an example of its value, which inductor needs for every node."""
    node = graph.call_function(target, args)
    examples = fx.map_arg(args, lambda each: each.meta["val"])
    node.meta["val"] = target(*examples)
    return node
