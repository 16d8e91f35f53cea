"""Statistics of returns, which normalise the critic's targets, with or without Pop-Art.

Pop-Art: van Hasselt et al. 2016, arXiv 1602.07714, proposition 1. Deviation: moments weigh all
returns so far equally, as in Stable Baselines 2.10; the paper's forget old ones (eq. 3).

Shapes: B transitions, F features. `moments` are float64 [3]: mean, variance and number of returns.
They are float64 because float32 cannot count far enough.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

#: Mean 0 and variance 1, with the weight of 0.01 returns; no standard deviation is below 0.1.
PRIOR = (0.0, 1.0, 0.01)
LEAST_VARIANCE = 0.01


def merged(moments: Tensor, returns: Tensor, mean: Callable[[Tensor], Tensor], size: int) -> Tensor:
    """The moments with the returns of one more batch, of all ranks.

    They do not change if a return is not finite.

    Args:
        moments: float64 [3].
        returns: float [B], of this rank.
        mean: of a tensor over ranks. size: how many ranks there are.
    """
    old_mean, old_var, count = moments.unbind()
    difference = returns.to(moments.dtype) - old_mean
    first, second = mean(torch.stack([difference.mean(), difference.square().mean()])).unbind()
    n = float(len(returns) * size)
    total = count + n
    # Chan, Golub and LeVeque 1979, eq. 2.1; the batch has variance E[d^2] - E[d]^2.
    squares = old_var * count + (second - first.square()) * n
    squares = squares + first.square() * count * n / total
    found = torch.stack([old_mean + first * n / total, squares / total, total])
    return torch.where(found.isfinite().all(), found, moments)


def mean_and_std(moments: Tensor) -> tuple[Tensor, Tensor]:
    """mu and sigma, float32, 0-dim."""
    mean, var, _ = moments.unbind()
    return mean.to(torch.float32), var.clamp(min=LEAST_VARIANCE).sqrt().to(torch.float32)


def normalised(returns: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """Q~ = (Q - mu) / sigma, float [B]."""
    return (returns - mean) / std


def denormalised(q: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    """Q = mu + sigma Q~, float [B]."""
    return mean + std * q


def rescaled(
    weight: Tensor, bias: Tensor, old: tuple[Tensor, Tensor], new: tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """A linear output layer that gives the same denormalised value with the new mean and std.

    w' = w sigma / sigma',  b' = (sigma b + mu - mu') / sigma'

    Args:
        weight: float [F, 1]. bias: float [1].
        old, new: (mu, sigma) before and (mu', sigma') after the moments changed.
    """
    (mean, std), (new_mean, new_std) = old, new
    return weight * (std / new_std), (std * bias + mean - new_mean) / new_std
