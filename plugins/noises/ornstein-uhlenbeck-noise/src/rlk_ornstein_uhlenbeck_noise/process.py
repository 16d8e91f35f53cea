"""The Ornstein-Uhlenbeck process: Uhlenbeck and Ornstein 1930, doi:10.1103/PhysRev.36.823."""

from __future__ import annotations

import math

from rlk.records import Array


def process_step(
    x: Array, normal: Array, mean: Array, sigma: Array, theta: float, dt: float
) -> Array:
    """x' = x + theta (mean - x) dt + sigma sqrt(dt) N(0, 1), by Euler and Maruyama; [..., D].

    Args:
        x: the current value of the process, [..., D].
        normal: standard normal numbers, [..., D].
        mean, sigma: of all dimensions, or of each, [D].
        theta: rate of return to the mean. dt: the time of a step.
    """
    found: Array = x + (theta * dt) * (mean - x) + (math.sqrt(dt) * sigma) * normal
    return found
