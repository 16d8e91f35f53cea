"""Conjugate gradient: Hestenes and Stiefel 1952 (doi:10.6028/jres.049.044).

Shapes: P parameters.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

#: A squared residual below this ends the iteration.
TOLERANCE = 1e-10


def conjugate_gradient(
    product: Callable[[Tensor], Tensor],
    b: Tensor,
    iterations: int,
    agree: Callable[[bool], bool] = bool,
) -> tuple[Tensor, Tensor]:
    """An approximate solution x of A x = b, and x^T A x, using only products with A.

    Args:
        product: v -> A v, with A symmetric and positive definite.
        b: float [P], not all zero.
        iterations: the maximum number of products.
        agree: this rank's decision -> the decision of all ranks.

    Returns:
        x, float [P], and x^T A x = x^T (b - r) with the last residual r, 0-dim, which saves the
        product that it would take otherwise.
    """
    x, residual = torch.zeros_like(b), b.clone()
    direction, square = b.clone(), b.dot(b)
    for _ in range(iterations):
        image = product(direction)
        length = square / direction.dot(image)
        x += length * direction
        residual -= length * image
        last, square = square, residual.dot(residual)
        if agree(not float(square) >= TOLERANCE):  # also where it is not finite
            break
        direction = residual + (square / last) * direction
    return x, x.dot(b - residual)
