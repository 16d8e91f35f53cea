"""Reads pickles of numbers, strings, arrays and containers, and refuses any other object."""

from __future__ import annotations

import os
import pickle
from typing import IO, Any

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


class _Restricted(pickle.Unpickler):
    def __init__(self, file: IO[bytes], whose: str) -> None:
        super().__init__(file)
        self._whose = whose

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in PLAIN:
            return super().find_class(module, name)
        raise RefusedPickle(
            f"{self._whose} is a pickle with {module}.{name} in it, which is code that reading "
            "would run."
        )


def restricted_load(source: str | os.PathLike[str] | IO[bytes]) -> Any:
    """Load a pickle without running code.

    Args:
        source: a path, or an open binary file.

    Raises:
        RefusedPickle: if it holds anything but numbers, strings, arrays and containers.
        BadFile: if it is damaged.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            return restricted_load(file)
    whose = str(getattr(source, "name", "this file"))
    try:
        return _Restricted(source, whose).load()
    except RefusedPickle:
        raise
    except Exception as error:  # damaged bytes may raise anything
        why = str(error).rstrip(".")
        raise BadFile(f"{whose} is not a pickle: {type(error).__name__}: {why}.") from None
