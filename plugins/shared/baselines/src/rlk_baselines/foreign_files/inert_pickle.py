"""Loads pickles without running code: only numbers, strings, containers and numpy's arrays.

`inert_load` puts an inert placeholder for every other object; `plain_load` refuses such a pickle.
"""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

from rlk.errors import BadFile

#: The functions and classes that make numpy's arrays and numbers, and containers.
PLAIN = {
    ("numpy", "ndarray"),
    ("numpy", "dtype"),
    ("numpy.core.multiarray", "_reconstruct"),
    ("numpy._core.multiarray", "_reconstruct"),
    ("numpy.core.multiarray", "scalar"),
    ("numpy._core.multiarray", "scalar"),
    ("numpy.core.numeric", "_frombuffer"),
    ("numpy._core.numeric", "_frombuffer"),
    ("collections", "OrderedDict"),
}


class RefusedPickle(BadFile):
    """A pickle that contains an object of a class that is not allowed."""


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


class _NotPlain(Exception):
    """A class or function that is not in `PLAIN`, by its module and name."""


class _PlainUnpickler(pickle.Unpickler):
    """Imports nothing but what is in `PLAIN`."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return super().find_class(module, name)
        return self.in_place_of(module, name)

    def in_place_of(self, module: str, name: str) -> Any:
        """What stands for any other class or function."""
        raise _NotPlain(f"{module}.{name}")


class _InertUnpickler(_PlainUnpickler):
    def in_place_of(self, module: str, name: str) -> Any:
        return type(name.rpartition(".")[2], (Inert,), {"path": f"{module}.{name}"})


def plain_load(path: Path) -> Any:
    """Load the pickle in a file.

    Raises:
        RefusedPickle: if it holds anything but numbers, strings, arrays and containers.
        BadFile: if it is damaged.
    """
    data = path.read_bytes()
    try:
        return _PlainUnpickler(io.BytesIO(data)).load()
    except _NotPlain as error:
        raise RefusedPickle(
            f"{path} is a pickle with {error} in it, which is code that reading would run."
        ) from None
    except Exception as error:  # damaged bytes may raise anything
        why = str(error).rstrip(".")
        raise BadFile(f"{path} is not a pickle: {type(error).__name__}: {why}.") from None


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
