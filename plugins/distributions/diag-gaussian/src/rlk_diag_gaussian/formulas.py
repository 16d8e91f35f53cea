"""The Gaussian whose D dimensions are independent, by mean and log std, each float [..., D]."""

from __future__ import annotations

import math

from torch import Tensor

HALF_LOG_2PI = 0.5 * math.log(2 * math.pi)


def log_density(value: Tensor, mean: Tensor, log_std: Tensor) -> Tensor:
    """-sum(((x - mean) / std)^2 / 2 + log std + log(2 pi) / 2), float [...]."""
    return log_density_of_noise((value - mean) * (-log_std).exp(), log_std)


def log_density_of_noise(noise: Tensor, log_std: Tensor) -> Tensor:
    """`log_density` at mean + std * noise, float [...]."""
    return -(0.5 * noise.square() + log_std + HALF_LOG_2PI).sum(-1)


def entropy(log_std: Tensor) -> Tensor:
    """sum(log std + log(2 pi e) / 2), in nats, float [...]."""
    return (log_std + (HALF_LOG_2PI + 0.5)).sum(-1)


def divergence(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """KL(one || other) of two pairs (mean, log std), float [...].

    The sum over D of log(s2/s1) + ((s1/s2)^2 + ((m1 - m2)/s2)^2) / 2 - 1/2. As quotients, the
    squares of tiny deviations are neither 0 nor infinite.
    """
    (m1, l1), (m2, l2) = one, other
    spread = (2 * (l1 - l2)).exp() + ((m1 - m2) * (-l2).exp()).square()
    return (l2 - l1 + 0.5 * spread - 0.5).sum(-1)
