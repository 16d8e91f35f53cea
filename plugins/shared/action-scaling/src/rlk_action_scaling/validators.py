"""Checks of settings with one number, or one number per dimension of an action.

Imports no numpy.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import attrs


def not_negative(
    _: object, attribute: attrs.Attribute[Any], value: float | Iterable[float]
) -> None:
    """Raise ValueError for a number below 0."""
    if any(each < 0 for each in (value if isinstance(value, Iterable) else [value])):
        raise ValueError(f"{attribute.name} must be at least 0, got {value!r}")


def fixed(noise: object, attribute: attrs.Attribute[Any], value: Any) -> Any:
    """For `on_setattr` of a noise object: its settings do not change, because a run copies them.

    In a derived class they may, because its objects are called at every step.

    Raises:
        AttributeError: unless the class is a derived one.
    """
    kind = type(noise)
    if not is_derived(kind):
        raise AttributeError(
            f"{kind.__name__}.{attribute.name} cannot be set: a run copies it when it is "
            "made. Between two calls of learn, give the model another object: model.action_noise = "
            f"{kind.__name__}(…). Noise that changes while learn is running is a class derived "
            f"from {kind.__name__} that changes self.{attribute.name} in its __call__."
        )
    return value


def is_derived(kind: type) -> bool:
    """Whether a class is derived from one that attrs has made, itself made by attrs or not."""
    return any("__attrs_attrs__" in vars(base) for base in kind.__mro__[1:])
