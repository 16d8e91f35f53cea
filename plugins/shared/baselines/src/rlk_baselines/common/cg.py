"""`conjugate_gradient`: Hestenes and Stiefel 1952. Shapes: D numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rlk.records import Array


def conjugate_gradient(
    f_ax: Callable[[Array], Array],
    b_vec: Array,
    cg_iters: int = 10,
    callback: Callable[[Array], Any] | None = None,
    verbose: bool = False,
    residual_tol: float = 1e-10,
) -> Array:
    """Solve A x = b for a symmetric positive definite A, starting at x = 0: x, float [D].

    Args:
        f_ax: the product of A and a vector [D].
        b_vec: b, float [D].
        cg_iters: the largest number of iterations.
        callback: called with x before every iteration, and at the end.
        verbose: whether to print the residuals.
        residual_tol: the iterations end when |b - A x|^2 is smaller.
    """
    x, residual, direction = np.zeros_like(b_vec), b_vec.copy(), b_vec.copy()
    squared = residual.dot(residual)
    for i in range(cg_iters):
        if squared < residual_tol:
            break
        _tell(callback, x)
        if verbose:
            print(f"{i:10d} {squared:10.3g} {np.linalg.norm(x):10.3g}")
        product = f_ax(direction)
        step = squared / direction.dot(product)
        x = x + step * direction
        residual = residual - step * product
        before, squared = squared, residual.dot(residual)
        direction = residual + squared / before * direction
    _tell(callback, x)
    return x


def _tell(callback: Callable[[Array], Any] | None, x: Array) -> None:
    if callback is not None:
        callback(x)
