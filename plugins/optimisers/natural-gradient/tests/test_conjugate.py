from __future__ import annotations

import pytest
import torch
from torch import tensor

from rlk_natural_gradient.conjugate import conjugate_gradient

A = tensor([[4.0, 1.0], [1.0, 3.0]])
B = tensor([1.0, 2.0])


def test_the_first_iteration_by_hand():
    x, curvature = conjugate_gradient(A.mv, B, 1)
    # b^T b / b^T A b = 5 / 20
    assert x.tolist() == pytest.approx([0.25, 0.5])
    assert curvature.item() == pytest.approx(0.25 * 0.25 * 20)


def test_two_iterations_solve_two_equations():
    x, curvature = conjugate_gradient(A.mv, B, 2)
    assert x.tolist() == pytest.approx([1 / 11, 7 / 11])
    assert curvature.item() == pytest.approx(15 / 11)


def problem(size=12):
    generator = torch.Generator().manual_seed(0)
    root = torch.randn(size, size, generator=generator, dtype=torch.float64)
    return root @ root.T + torch.eye(size), torch.randn(
        size, generator=generator, dtype=torch.float64
    )


def test_as_many_iterations_as_equations_equal_the_solution_by_elimination():
    matrix, b = problem()
    x, _ = conjugate_gradient(matrix.mv, b, 30)
    assert torch.allclose(x, torch.linalg.solve(matrix, b), atol=1e-5)


@pytest.mark.parametrize("iterations", [1, 3, 6])
def test_the_curvature_that_costs_no_product_equals_that_of_one(iterations):
    matrix, b = problem()
    x, curvature = conjugate_gradient(matrix.mv, b, iterations)
    assert curvature.item() == pytest.approx(float(x.dot(matrix.mv(x))))


def test_it_ends_where_nothing_is_left_to_solve():
    calls = []

    def product(vector):
        calls.append(vector)
        return 2.0 * vector

    x, _ = conjugate_gradient(product, B, 10)
    assert len(calls) == 1 and x.tolist() == [0.5, 1.0]


def test_all_ranks_end_when_the_first_does():
    asked = []

    def agree(mine):
        asked.append(mine)
        return len(asked) == 2

    matrix, b = problem()
    conjugate_gradient(matrix.mv, b, 10, agree)
    assert asked == [False, False]


def test_b_is_left_as_it_was():
    b = B.clone()
    conjugate_gradient(A.mv, b, 2)
    assert b.equal(B)
