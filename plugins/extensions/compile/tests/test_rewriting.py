"""Graphs in which some operations are replaced: other nodes, the same numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from rlk_compile.narrow_gather import compare_columns
from rlk_compile.split_bias import split_bias
from rlk_compile.trace import EXAMPLE, Trace


@dataclass
class Small:
    """A batch."""

    x: Tensor


def rewritten(update: Callable[..., Tensor], batch: Small) -> tuple[list[Any], Tensor]:
    """The functions that the graph of an update calls without its biases, and what it gives."""
    trace = Trace(update, batch, None)
    graph, inputs = trace.recorder.graph, trace.recorder.inputs
    assert graph is not None
    split_bias(graph)
    assert all(EXAMPLE in node.meta for node in graph.graph.nodes if node.op == "call_function")
    names = [node.target for node in graph.graph.nodes if node.op == "call_function"]
    return names, graph(*inputs)[0]


def test_a_bias_is_added_after_its_product() -> None:
    bias, weight = torch.tensor([1.0, -1.0]), torch.tensor([[2.0, 0.0], [1.0, 3.0]])

    def update(batch: Small, optimise: Any) -> Tensor:
        return torch.addmm(bias, batch.x, weight).relu() + torch.addmm(bias, weight, batch.x)

    batch = Small(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    names, found = rewritten(update, batch)
    assert torch.addmm not in names and names.count(torch.mm) == 2
    assert found.equal(update(batch, None))


def test_a_batched_bias_is_added_after_its_product() -> None:
    bias, weight = torch.tensor([[[1.0, -1.0]]]), torch.tensor([[[2.0, 0.0], [1.0, 3.0]]])

    def update(batch: Small, optimise: Any) -> Tensor:
        return torch.baddbmm(bias, batch.x.unsqueeze(0), weight).relu()

    batch = Small(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    names, found = rewritten(update, batch)
    assert torch.baddbmm not in names and names.count(torch.bmm) == 1
    assert found.equal(update(batch, None))


def test_a_product_that_is_scaled_stays_as_it_is() -> None:
    bias, weight = torch.tensor([1.0, -1.0]), torch.tensor([[2.0, 0.0], [1.0, 3.0]])

    def update(batch: Small, optimise: Any) -> Tensor:
        return torch.addmm(bias, batch.x, weight, alpha=2.0, beta=0.5).relu()

    batch = Small(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    names, found = rewritten(update, batch)
    assert torch.addmm in names and found.equal(update(batch, None))


def chosen(index: Tensor) -> tuple[bool, Tensor, Tensor]:
    """Whether a gather is left in the rewritten graph of a gradient, what it gives, and should."""
    x = torch.tensor([[1.0, 2.0, -4.0], [3.0, float("-inf"), 5.0]])
    rows = nn.Parameter(x)

    def update(batch: Small, optimise: Any) -> Tensor:
        picked = rows.gather(-1, index)
        (slopes,) = torch.autograd.grad((picked * batch.x[:, :1]).square().sum(), (rows,))
        return torch.cat([picked, slopes], 1).detach()

    batch = Small(torch.tensor([[1.0, 2.0], [3.0, -1.0]]))
    trace = Trace(update, batch, None)
    graph, inputs = trace.recorder.graph, trace.recorder.inputs
    assert graph is not None
    compare_columns(graph)
    calls = [node for node in graph.graph.nodes if node.op in ("call_function", "call_method")]
    assert all(EXAMPLE in node.meta for node in calls)
    targets = {node.target for node in graph.graph.nodes}
    return bool(targets & {"gather", torch.gather}), graph(*inputs)[0], update(batch, None)


def test_one_column_of_every_row_is_chosen_by_comparison() -> None:
    is_left, found, expected = chosen(torch.tensor([[2], [0]]))
    assert not is_left and found.equal(expected)
    assert found.tolist() == [[-4.0, 0.0, 0.0, -8.0], [3.0, 54.0, 0.0, 0.0]]


def test_several_columns_are_gathered_as_before() -> None:
    is_left, found, expected = chosen(torch.tensor([[2, 2], [0, 2]]))
    assert is_left and found.equal(expected)


CUBE = torch.arange(12.0).view(2, 3, 2)


@pytest.mark.parametrize(
    ("x", "dim", "index", "is_left"),
    [
        (CUBE[0], 1, torch.tensor([[1], [0], [1]]), False),
        (CUBE, -1, torch.tensor([[[1], [0], [1]], [[0], [0], [1]]]), False),
        (CUBE, 2, torch.tensor([[[1], [0], [1]], [[0], [0], [1]]]), False),
        (CUBE[0, 0], 0, torch.tensor([1]), False),
        (CUBE[0], 0, torch.tensor([[1], [0], [1]]), True),
        (CUBE[0], 1, torch.tensor([[1], [0]]), True),
        (CUBE[0].long(), 1, torch.tensor([[1], [0], [1]]), True),
        (torch.tensor(5.0), -1, torch.tensor([0]), True),
    ],
    ids=["the last axis", "three axes", "the third axis", "one axis", "another axis", "fewer rows",
         "whole numbers", "a single number"],
)  # fmt: skip
def test_only_one_column_of_every_row_of_floats_is_chosen_so(
    x: Tensor, dim: int, index: Tensor, is_left: bool
) -> None:
    def update(batch: Small, optimise: Any) -> Tensor:
        return torch.gather(x, dim, index) * batch.x

    batch = Small(torch.ones(1, dtype=x.dtype))
    trace = Trace(update, batch, None)
    graph = trace.recorder.graph
    assert graph is not None
    compare_columns(graph)
    assert (torch.gather in {node.target for node in graph.graph.nodes}) == is_left
    found, expected = graph(*trace.recorder.inputs)[0], update(batch, None)
    assert found.equal(expected) and found.dtype is expected.dtype


def test_a_gather_that_is_told_more_stays_as_it_is() -> None:
    x, index = CUBE[0], torch.tensor([[1], [0], [1]])

    def update(batch: Small, optimise: Any) -> Tensor:
        return torch.gather(x, 1, index, sparse_grad=True) * batch.x

    trace = Trace(update, Small(torch.ones(1)), None)
    graph = trace.recorder.graph
    assert graph is not None
    compare_columns(graph)
    assert torch.gather in {node.target for node in graph.graph.nodes}
