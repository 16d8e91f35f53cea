"""Small functions that programs of Stable-Baselines3 use."""

from __future__ import annotations

from collections.abc import Callable

from rlk_baselines.common.math_util import explained_variance, safe_mean
from rlk_baselines.common.misc_util import set_global_seeds
from rlk_baselines.common.schedules import constfn as constant_fn
from rlk_baselines.common.schedules import get_schedule_fn

__all__ = [
    "constant_fn",
    "explained_variance",
    "get_linear_fn",
    "get_schedule_fn",
    "safe_mean",
    "set_random_seed",
]


_seeded = False


def set_random_seed(seed: int, using_cuda: bool = False) -> None:
    """As `set_global_seeds`; a GPU's generator is seeded with the others.

    A model without a seed draws one from numpy's generator from now on, so that it is the same
    whenever the program is run.
    """
    global _seeded
    _seeded = True
    set_global_seeds(seed)


def is_seeded() -> bool:
    """Whether `set_random_seed` was called."""
    return _seeded


def get_linear_fn(start: float, end: float, end_fraction: float) -> Callable[[float], float]:
    """A schedule from one number to another, of what remains of the training, 1 to 0.

    Args:
        start, end: the numbers.
        end_fraction: the part of the training after which it stays at `end`.
    """

    def value(remaining: float) -> float:
        return start + min((1 - remaining) / end_fraction, 1.0) * (end - start)

    return value
