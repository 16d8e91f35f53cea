"""Whether a class or a function is another version of one that was there before.

A cell of a notebook that runs again, and a module that is reloaded, define everything in them anew.
"""

from __future__ import annotations

from typing import Any


def redefines(new: Any, old: Any) -> bool:
    """Whether both are the same, or have the same place in the source of the program.

    Lambdas, partials and what a function makes have none: several different ones may be called
    alike, and each redefines only itself.
    """
    return new is old or (_place(new) is not None and _place(new) == _place(old))


def _place(made: Any) -> str | None:
    """`module:Class`, which may also stand for the object itself, as in `Component.factory`."""
    if isinstance(made, str):
        return made
    name = getattr(made, "__qualname__", "<")
    return None if "<" in name else f"{made.__module__}:{name}"
