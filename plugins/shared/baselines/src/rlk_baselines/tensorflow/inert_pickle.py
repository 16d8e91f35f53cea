"""Looks into pickles without running anything: whatever they name is an inert object.

Only numpy's arrays and numbers and ordered dicts become what they were.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from rlk_baselines.common.vec_env.restricted_pickle import PLAIN


class Inert:
    """Stands for an object of a pickle, a class or a function, and does nothing.

    Its attributes are those that the pickle gives the object.

    Attributes:
        path: the module and the name of the class or function.
        arguments: what the object is made of.
    """

    path = ""
    arguments: tuple[Any, ...] = ()

    def __new__(cls, *arguments: Any, **keywords: Any) -> Inert:
        made = super().__new__(cls)
        made.arguments = arguments
        return made

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        """Nothing."""

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
    """What a pickle holds, with an `Inert` for every object that is no number, text or container.

    A class or a function that it refers to by name is a subclass of `Inert`.

    Raises:
        ValueError: if it cannot be looked into.
    """
    try:
        return _InertUnpickler(io.BytesIO(data)).load()
    except Exception as error:  # a pickle may do anything to what it names
        raise ValueError(f"{type(error).__name__}: {error}") from None


def path_of(value: Any) -> str | None:
    """The module and name of a class or function that a pickle refers to; None for all else."""
    is_reference = isinstance(value, type) and issubclass(value, Inert)
    return value.path if is_reference else None


def is_plain(value: Any) -> bool:
    """Whether nothing in a value is inert."""
    if isinstance(value, dict):
        return all(map(is_plain, value.values()))
    if isinstance(value, (list, tuple)):
        return all(map(is_plain, value))
    return not isinstance(value, Inert) and path_of(value) is None
