"""Settings that are one number for all dimensions of an action, or one for each. D dimensions."""

from __future__ import annotations

import numpy as np

from rlk.errors import PlanError
from rlk.records import Array


def per_dimension(whose: str, name: str, value: float | list[float], size: int) -> Array:
    """A setting as float32: one number, or [D].

    Args:
        whose: the name of the component in the error.
        name: of the setting.
        value: one number, or a list of them.
        size: D.

    Raises:
        PlanError: if the number of values does not fit.
    """
    found = np.asarray(value, dtype=np.float32)
    if found.ndim and found.size != size:
        raise PlanError(
            f"{whose}: {name} has {found.size} values, but an action has {size}. Give one number, "
            "or one for each."
        )
    return found


def as_numbers(value: object) -> Array:
    """The value of such a setting in a program, as float64 [D], or [1] for one number."""
    return np.atleast_1d(np.asarray(value, dtype=np.float64)).reshape(-1)


def common_size(whose: str, numbers: dict[str, Array]) -> int:
    """The number of dimensions of an action, from several `as_numbers` by their names.

    Raises:
        ValueError: if two of them have one number per dimension, but different sizes.
    """
    sizes = {name: each.size for name, each in numbers.items() if each.size != 1}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{name} has {size}" for name, size in sizes.items())
        raise ValueError(f"{whose}: {found} values. Give one number, or one for each dimension.")
    return next(iter(sizes.values()), 1)


def as_setting(numbers: Array) -> float | list[float]:
    """Numbers [D] as a setting; a single number is for all dimensions."""
    found: list[float] = numbers.tolist()
    return found[0] if len(found) == 1 else found
