"""One flat tensor as input for each memory that a graph uses, instead of all views of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, fx

from rlk_compile.trace import EXAMPLE, Untraceable


class FlatInputs:
    """The inputs of the compiled function, instead of the graph's own inputs.

    Parameters require gradients and are views of a flat tensor that the update writes to. Inside
    the new graph, they are made from one flat input for each memory. If a compiler got both as
    inputs, it would reconcile them at every call (20 µs) and copy what it has written.

    Args:
        graph: as Dynamo recorded it. inputs: its input tensors.
        moving: numbers of the inputs that are different tensors at every call.

    Attributes:
        graph: the same graph, with flat inputs.
        taken: (number of an input, whether all of its memory is used) for each flat input.
        moving: the numbers of the moving inputs in `gather(inputs)`, in the same order.
    """

    def __init__(
        self, graph: fx.GraphModule, inputs: Sequence[Tensor], moving: Sequence[int]
    ) -> None:
        self.taken: list[tuple[int, bool]] = []
        made = fx.Graph()
        nodes = [node for node in graph.graph.nodes if node.op == "placeholder"]
        by_memory = _by_memory(inputs, set(moving))
        placed: dict[int, fx.Node] = {}
        flats: dict[int, fx.Node] = {}
        for number, node in enumerate(nodes):
            together = by_memory.get(number)
            if together is None:
                placed[number] = made.placeholder(node.name)
                self.taken.append((number, False))
            elif together not in flats:
                flats[together] = made.placeholder(f"flat_{together}")
                self.taken.append((number, True))
        for number, together in by_memory.items():
            example = nodes[number].meta.get(EXAMPLE)
            placed[number] = _view(made, flats[together], inputs[number], example)
        for number, node in placed.items():
            node.meta[EXAMPLE] = nodes[number].meta.get(EXAMPLE)
        order = [number for number, _ in self.taken]
        self.moving = [order.index(number) for number in moving]
        known = {node: placed[number] for number, node in enumerate(nodes)}
        for node in graph.graph.nodes:
            if node.op == "output":
                made.output(fx.map_arg(node.args[0], lambda each: known[each]))
            elif node.op != "placeholder":
                known[node] = made.node_copy(node, lambda each: known[each])
        self.graph = fx.GraphModule(graph, made)

    def gather(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """The arguments of the compiled function, for these inputs of the original graph."""
        return [memory(inputs[n]) if whole else inputs[n] for n, whole in self.taken]


def _by_memory(inputs: Sequence[Tensor], moving: set[int]) -> dict[int, int]:
    """Input -> a number for the memory that it shares, for inputs that become views of it."""
    sharing: dict[int, list[int]] = {}
    for number, tensor in enumerate(inputs):
        if number not in moving and tensor.numel():
            sharing.setdefault(tensor.untyped_storage().data_ptr(), []).append(number)
    found = {}
    for numbers in sharing.values():
        if len(numbers) == 1 and not inputs[numbers[0]].requires_grad:
            continue
        if len({inputs[number].dtype for number in numbers}) > 1:
            raise Untraceable("two of its tensors share memory and differ in dtype")
        found.update(dict.fromkeys(numbers, numbers[0]))
    return found


def memory(tensor: Tensor) -> Tensor:
    """All of a tensor's memory, as a flat tensor."""
    storage = tensor.untyped_storage()
    flat = torch.empty(0, dtype=tensor.dtype, device=tensor.device)
    size = storage.nbytes() // tensor.element_size()
    return flat.set_(storage, 0, (size,), (1,))


def _view(graph: fx.Graph, flat: fx.Node, tensor: Tensor, example: Any) -> fx.Node:
    place = (tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset())
    view = graph.call_function(torch.as_strided, (flat, *place))
    if tensor.requires_grad:
        leaf = graph.call_function(torch.detach, (view,))
        leaf.meta[EXAMPLE] = example
        view = graph.call_method("requires_grad_", (leaf,))
    return view
