"""Loads pickles without running code: every object in them becomes an inert placeholder.

Only numbers, strings, containers and numpy's arrays are restored.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from rlk_baselines.common.vec_env.restricted_pickle import PLAIN


class Inert:
    """A placeholder for an object in a pickle, which does nothing.

    It has the attributes that the pickle sets on the object.

    Attributes:
        path: the module and name of the object's class, or of the function that makes it.
        arguments: the positional arguments that the object is made with.
    """

    path = ""
    arguments: tuple[Any, ...] = ()

    def __new__(cls, *arguments: Any, **keywords: Any) -> Inert:
        made = super().__new__(cls)
        made.arguments = arguments
        return made

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """Do nothing."""

    def __setstate__(self, state: Any) -> None:
        if isinstance(state, dict):
            self.__dict__.update(state)

    def __call__(self, *arguments: Any, **keywords: Any) -> Inert:
        return Inert()


class _InertUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return super().find_class(module, name)
        return type(name.rpartition(".")[2], (Inert,), {"path": f"{module}.{name}"})


def inert_load(data: bytes) -> Any:
    """Load a pickle, with an `Inert` for every object other than numbers, strings and containers.

    A class or function that it refers to by name becomes a subclass of `Inert`.

    Raises:
        ValueError: if it cannot be loaded.
    """
    try:
        return _InertUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # operations of a pickle on placeholders may fail in any way
        raise ValueError(f"{type(error).__name__}: {error}") from None


def path_of(value: Any) -> str | None:
    """The module and name of a class or function that a pickle refers to; None for other values."""
    is_reference = isinstance(value, type) and issubclass(value, Inert)
    return value.path if is_reference else None


def is_plain(value: Any) -> bool:
    """Whether a value contains no inert placeholder."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return not isinstance(value, Inert) and path_of(value) is None
