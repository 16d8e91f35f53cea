"""The Kronecker factors of a layer's Fisher matrix: Martens and Grosse 2015, arXiv 1503.05671.

A layer is s = W^T a, with a 1 appended to a for the bias. With g, the gradient of a sampled
log-likelihood w.r.t. s, the layer's block of the Fisher matrix is E[(a a^T) (x) (g g^T)], which the
paper approximates by A (x) G with A = E[a a^T] and G = E[g g^T] (section 3).

Where a case has several rows (the patches under a kernel, the steps of a sequence), A sums over
them and G is their mean: Grosse and Martens 2016, arXiv 1602.01182, section 3.1.

Shapes: B cases, C copies, R rows, I inputs (the 1 included), O outputs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

#: Damping is at least this fraction of a factor's trace; rounding could make it indefinite else.
LEAST_DAMPING = 1e-4


def with_ones(rows: Tensor) -> Tensor:
    """float [C, R, I]: the input of a bias is 1."""
    return F.pad(rows, (0, 1), value=1.0)


def kronecker_factors(rows: Tensor, gradients: Tensor, n_cases: int) -> tuple[Tensor, Tensor]:
    """A = sum_r a_r a_r^T / B, float [C, I, I], and G = E_r[g_r g_r^T], float [C, O, O].

    Args:
        rows: float [C, R, I].
        gradients: float [C, R, O], of the *mean* likelihood of the B cases: the gradient of a
            case's own is B times as large.
    """
    n_rows = rows.shape[1]
    inner = torch.bmm(rows.transpose(1, 2), rows).div_(n_cases)
    outer = torch.bmm(gradients.transpose(1, 2), gradients).mul_(n_cases * n_cases / n_rows)
    return inner, outer


def damping(factors: Sequence[tuple[Tensor, Tensor]], epsilon: float) -> list[Tensor]:
    """The terms to add to the diagonals of A and of G of each layer in turn, float [C] each.

    pi sqrt(epsilon) and sqrt(epsilon) / pi, with pi^2 = (tr A / I) / (tr G / O): factored Tikhonov
    damping, section 6.3, as in ACKTR's paper. Each is at least `LEAST_DAMPING` of its factor's
    trace.
    """
    if not factors:
        return []
    inner = torch.cat([_traces(one) for one, _ in factors])  # of all copies of all layers
    outer = torch.cat([_traces(one) for _, one in factors])
    traces = torch.stack([inner, outer]).clamp_(min=torch.finfo(inner.dtype).tiny)
    copies = [len(one) for one, _ in factors]
    sizes = [math.sqrt(g.shape[1] / a.shape[1]) for a, g in factors for _ in range(len(a))]
    # The root of each, because their quotient may overflow: G is 0 where a head has no weight.
    pi = traces[0].sqrt() / traces[1].sqrt() * traces.new_tensor(sizes)
    root = math.sqrt(epsilon)
    terms = torch.maximum(torch.stack([pi * root, root / pi]), LEAST_DAMPING * traces)
    return [one for layer in torch.split(terms, copies, 1) for one in layer]


def _traces(matrices: Tensor) -> Tensor:
    """float [C]."""
    return matrices.diagonal(dim1=1, dim2=2).sum(1)


def damped_inverses(
    factors: Sequence[tuple[Tensor, Tensor]], epsilon: float
) -> list[tuple[Tensor, Tensor]]:
    """(A + damping)^-1 and (G + damping)^-1 of each layer; those of one size in one call."""
    matrices = [one for pair in factors for one in pair]
    amounts = damping(factors, epsilon)
    of_size: dict[int, list[int]] = {}
    for number, matrix in enumerate(matrices):
        of_size.setdefault(matrix.shape[1], []).append(number)
    found = list(matrices)
    for numbers in of_size.values():
        damped = torch.cat([matrices[number] for number in numbers])
        amount = torch.cat([amounts[number] for number in numbers])
        damped.diagonal(dim1=1, dim2=2).add_(amount.unsqueeze(1))
        inverses = torch.cholesky_inverse(torch.linalg.cholesky(damped))
        parts = torch.split(inverses, [len(matrices[number]) for number in numbers])
        for number, part in zip(numbers, parts, strict=True):
            # Rounding depends on the memory layout: this copy has the layout of a loaded file.
            found[number] = part.clone(memory_format=torch.contiguous_format)
    return list(zip(found[::2], found[1::2], strict=True))
