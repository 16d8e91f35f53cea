"""Settings that are one number for all dimensions of an action, or one for each. D dimensions."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np

from rlk.errors import PlanError
from rlk.records import Array
from rlk_action_scaling.validators import is_derived


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


def hold_read_only(noise: object) -> None:
    """Give a new noise object read-only copies of its settings, which a run copies likewise.

    Without them `sigma[:] = 0` changed the number that is shown and not the noise. An object of a
    derived class, which is called at every step, keeps the arrays that it was given.
    """
    kind: Any = type(noise)
    if is_derived(kind):
        return
    for field in attrs.fields(kind):
        value = getattr(noise, field.name, None)
        if isinstance(value, np.ndarray):
            held = value.copy()
            held.setflags(write=False)
            object.__setattr__(noise, field.name, held)  # as `fixed` refuses an assignment


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
