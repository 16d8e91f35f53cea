"""Products of rows with one of several matrices each."""

from __future__ import annotations

import pytest
import torch

from rlk_networks import grouped_product, grouping


@pytest.mark.parametrize("traced", [False, True])
def test_each_row_is_multiplied_by_the_matrix_of_its_group(traced: bool) -> None:
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 2.0]])
    weight = torch.arange(12.0).reshape(3, 2, 2)  # (0 1, 2 3), (4 5, 6 7), (8 9, 10 11)
    ends = torch.tensor([1, 1, 3])  # nobody is in the second group
    product = grouped_product
    if traced:
        product = torch.compile(grouped_product, backend="eager", fullgraph=True)
    assert product(x, weight, ends).tolist() == [[0.0, 1.0], [8.0, 9.0], [20.0, 22.0]]


@pytest.mark.parametrize("traced", [False, True])
def test_rows_are_put_in_order_of_their_groups(traced: bool) -> None:
    made = torch.compile(grouping, backend="eager", fullgraph=True) if traced else grouping
    order, ends = made(torch.tensor([2, 0, 2, 0]), 4)
    assert order.tolist() == [1, 3, 0, 2] and ends.tolist() == [2, 2, 4, 4]
    assert order.dtype == ends.dtype == torch.int64


def test_both_ways_to_find_the_order_agree() -> None:
    for seed in range(5):
        choice = torch.randint(0, 3, (50,), generator=torch.Generator().manual_seed(seed))
        order, ends = grouping(choice, 4)
        made = torch.compile(grouping, backend="eager", fullgraph=True)(choice, 4)
        assert torch.equal(made[0], order) and torch.equal(made[1], ends)
        assert torch.equal(order, torch.argsort(choice, stable=True))


def test_a_compiler_is_told_what_the_operator_gives() -> None:
    given = torch.randn(5, 2), torch.randn(2, 2, 3), torch.tensor([1, 5])
    torch.library.opcheck(torch.ops.rlk_networks.grouped_product, given)
