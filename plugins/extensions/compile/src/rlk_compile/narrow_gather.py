"""Replaces a gather of one column per row, whose gradient inductor computes wrongly."""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from rlk_compile.trace import EXAMPLE


def compare_columns(graph: fx.GraphModule) -> None:
    """Replace `x.gather(-1, index)` of one column by a sum over matching columns, in place.

    The gradient of `gather` is a `scatter_add`. Inductor (torch 2.13) may fuse it with the loop
    that reads its result, and read before it is complete: the policy's part of PPO1's loss was
    missing. The sum adds zeros to one number, so nothing is rounded.
    """
    for node in list(graph.graph.nodes):
        chosen = _one_column(node)
        if chosen is None:
            continue
        x, index, columns = chosen
        add = graph.graph.call_function
        with graph.graph.inserting_before(node):
            numbers = add(torch.arange, (columns,), {"device": index.meta[EXAMPLE].device})
            is_chosen = add(torch.eq, (index, numbers))
            kept = add(torch.where, (is_chosen, x, 0.0))
            total = add(torch.sum, (kept, -1, True))
        for made in (numbers, is_chosen, kept, total):
            made.meta.update(node.meta)  # torch's cache needs it
        node.replace_all_uses_with(total)
        graph.graph.erase_node(node)
    graph.recompile()


def _one_column(node: fx.Node) -> tuple[fx.Node, fx.Node, int] | None:
    """(x, index, columns of x) for a gather of one column of every row; None for other nodes."""
    if node.target not in (torch.gather, "gather") or node.kwargs or len(node.args) != 3:
        return None
    x, dim, index = node.args
    if not isinstance(x, fx.Node) or not isinstance(index, fx.Node):
        return None
    given, at = _example(x), _example(index)
    if given is None or at is None or given.dim() == 0 or dim not in (-1, given.dim() - 1):
        return None
    is_narrow = at.shape == (*given.shape[:-1], 1) and given.is_floating_point()
    return (x, index, int(given.shape[-1])) if is_narrow else None


def _example(node: fx.Node) -> Any:
    return node.meta.get(EXAMPLE)
