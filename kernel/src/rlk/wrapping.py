"""A function inside the wrappers that plugins put around it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

from rlk.errors import BrokenPlugin, RlkError
from rlk.signatures import takes


def wrapped(
    function: Callable[..., Any], wrappers: Iterable[Any], arguments: int
) -> Callable[..., Any]:
    """A function inside all its wrappers, the first innermost.

    Args:
        arguments: how many arguments the function is called with.

    Raises:
        RlkError: if a wrapper returns something that cannot be called.
        BrokenPlugin: if it, or the function that it returns, takes another number of arguments.
    """
    for wrapper in wrappers:
        name = getattr(wrapper, "__qualname__", type(wrapper))
        whose = f"the wrapper {wrapper.__module__}.{name}"
        if not _takes(wrapper, 1):
            raise BrokenPlugin(f"{whose} must take one argument: the function that it wraps.")
        function = wrapper(function)
        if not callable(function):
            raise RlkError(
                f"{whose} returned {type(function).__name__}. It must return a "
                "function, to be called in place of the one that it is given."
            )
        if not _takes(function, arguments):
            raise BrokenPlugin(
                f"{whose} returned a function that takes another number of arguments than the one "
                f"inside it is called with ({arguments}). Let it take *args and hand them on."
            )
    return function


def _takes(function: Callable[..., Any], arguments: int) -> bool:
    """`takes`, while the update is not traced: the compiler follows the call itself."""
    return torch.compiler.is_compiling() or takes(function, arguments)
