"""The Kronecker factors of a layer's Fisher matrix: Martens and Grosse 2015, arXiv 1503.05671.

A layer is s = W^T a, with a 1 appended to a for the bias. With g, the gradient by s of a sampled
log-likelihood, the layer's block of the Fisher matrix is E[(a a^T) (x) (g g^T)], which the paper
takes for A (x) G with A = E[a a^T] and G = E[g g^T] (section 3).

Where a case has several rows (the patches under a kernel, the steps of a sequence), A sums over
them and G is their mean: Grosse and Martens 2016, arXiv 1602.01182, section 3.1.

Shapes: B cases, C copies, R rows, I inputs (the 1 included), O outputs.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

#: Damping is at least this part of a factor's trace, or rounding errors could make it indefinite.
LEAST_DAMPING = 1e-4


def with_ones(rows: Tensor) -> Tensor:
    """float [C, R, I]: the input of a bias is 1."""
    return torch.cat([rows, rows.new_ones(*rows.shape[:2], 1)], 2)


def kronecker_factors(rows: Tensor, gradients: Tensor, n_cases: int) -> tuple[Tensor, Tensor]:
    """A = sum_r a_r a_r^T / B, float [C, I, I], and G = E_r[g_r g_r^T], float [C, O, O].

    Args:
        rows: float [C, R, I].
        gradients: float [C, R, O], of the *mean* likelihood of the B cases: the gradient of a
            case's own is B times as large.
    """
    n_rows = rows.shape[1]
    inner = torch.bmm(rows.transpose(1, 2), rows / n_cases)
    outer = torch.bmm(gradients.transpose(1, 2), gradients * (n_cases * n_cases / n_rows))
    return inner, outer


def damped_inverses(inner: Tensor, outer: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """(A + pi sqrt(epsilon) I)^-1 and (G + sqrt(epsilon) / pi I)^-1, shapes as A and G.

    pi^2 = (tr A / I) / (tr G / O): factored Tikhonov damping, section 6.3, as ACKTR's paper has it.
    """
    a, g = mean_diagonal(inner), mean_diagonal(outer)
    tiny = torch.finfo(a.dtype).tiny
    pi, root = (a.clamp(min=tiny) / g.clamp(min=tiny)).sqrt(), math.sqrt(epsilon)
    return _inverse(inner, pi * root, a), _inverse(outer, root / pi, g)


def mean_diagonal(factor: Tensor) -> Tensor:
    """The trace divided by the size, float [C]."""
    return factor.diagonal(dim1=1, dim2=2).mean(1)


def _inverse(factor: Tensor, damping: Tensor, mean: Tensor) -> Tensor:
    damped = factor.clone()
    least = LEAST_DAMPING * factor.shape[1] * mean
    damped.diagonal(dim1=1, dim2=2).add_(torch.maximum(damping, least).unsqueeze(1))
    return torch.cholesky_inverse(torch.linalg.cholesky(damped))
