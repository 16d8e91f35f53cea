"""How a user's function can be called, as far as its signature shows."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any


def takes(function: Callable[..., Any], arguments: int) -> bool:
    """Whether a function can be called with so many positional arguments.

    A function in compiled code may have no signature, and then it is taken to fit.
    """
    try:
        inspect.signature(function).bind(*range(arguments))
    except TypeError:
        return False
    except ValueError:
        return True
    return True


def written(function: Callable[..., Any]) -> str:
    """A function with its parameters: `warm_up(step, total)`."""
    name = getattr(function, "__name__", type(function).__name__)
    try:
        return f"{name}{inspect.signature(function)}"
    except ValueError:
        return str(name)
