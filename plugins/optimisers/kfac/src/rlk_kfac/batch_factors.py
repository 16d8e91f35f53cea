"""The factors of every layer in a loss, on one batch.

Shapes: C copies, I inputs (a bias included), O outputs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from rlk.optimise import Objective
from rlk_kfac.factors import kronecker_factors, with_ones
from rlk_kfac.layouts import Layout
from rlk_kfac.products import Key, Product

#: A [C, I, I] and G [C, O, O].
Pair = tuple[Tensor, Tensor]


def batch_factors(products: list[Product], likelihood: Tensor, n_cases: int) -> dict[Key, Pair]:
    """A and G of each layer that the likelihood depends on.

    Calls of one weight with one bias are rows of one layer.

    Args:
        products: those of the loss.
        likelihood: 0-dim, the mean over the cases.
    """
    gradients = torch.autograd.grad(
        likelihood, [product.edge for product in products], allow_unused=True
    )
    rows: dict[Key, tuple[list[Tensor], list[Tensor]]] = {}
    for product, gradient in zip(products, gradients, strict=True):
        if gradient is None:
            continue
        inner, outer = rows.setdefault(product.key, ([], []))
        given = product.layout.rows_in(product.x)
        inner.append(given if product.bias is None else with_ones(given))
        outer.append(product.layout.rows_out(gradient))
    return {
        key: kronecker_factors(_joined(inner), _joined(outer), n_cases)
        for key, (inner, outer) in rows.items()
    }


def layouts_of(products: Iterable[Product]) -> dict[Key, Layout]:
    """How the tensors of each layer are arranged."""
    return {product.key: product.layout for product in products}


def mean_over_ranks(objective: Objective, factors: dict[Key, Pair]) -> dict[Key, Pair]:
    """The mean of the factors of all ranks' batches."""
    both = [one for pair in factors.values() for one in pair]
    if objective.communicator.size == 1 or not both:
        return factors
    joined = objective.mean(torch.cat([one.reshape(-1) for one in both]))
    parts = torch.split(joined, [one.numel() for one in both])
    shaped = [part.view(one.shape) for part, one in zip(parts, both, strict=True)]
    pairs = zip(shaped[::2], shaped[1::2], strict=True)
    return dict(zip(factors, pairs, strict=True))


def are_finite(factors: dict[Key, Pair]) -> bool:
    """Whether all numbers of the factors are finite, read as one number."""
    sums = [one.sum() for pair in factors.values() for one in pair]
    return not sums or math.isfinite(float(torch.stack(sums).sum()))


def _joined(rows: list[Tensor]) -> Tensor:
    return rows[0] if len(rows) == 1 else torch.cat(rows, 1)
