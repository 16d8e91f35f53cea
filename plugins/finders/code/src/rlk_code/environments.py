"""Environments by their place: a class or a function at `module:Class` or `./file.py:Class`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import attrs

from rlk.errors import SHOWN, PlanError
from rlk_code.place import classes_of, object_at, split


@attrs.frozen
class AtPlace:
    """A function from keywords to that environment; a worker that is sent it loads the place."""

    place: str

    @property
    def again(self) -> str:
        """The place itself: no file may name it."""
        return self.place

    def __call__(self, **keywords: Any) -> Any:
        """The environment, or what is at the place if that is no class or function."""
        found = object_at(self.place, "environment")
        if isinstance(found, ModuleType):
            raise PlanError(_which_class(self.place, found))
        return found(**keywords) if callable(found) else found


def environment_at(asked: str) -> AtPlace | None:
    """What makes that environment; None for what is no place, as `CartPole-v1` or `mine:Id-v0`.

    Nothing is loaded yet. A file alone is an error once it is: it lists the classes to choose from.
    """
    where, path = split(asked)
    if where.endswith(".py"):
        return AtPlace(asked)
    return AtPlace(asked) if where and path.replace(".", "_").isidentifier() else None


def _which_class(file: str, module: ModuleType) -> str:
    """The error for a file that is named without a class."""
    names = [
        name for name in classes_of(module) if {"reset", "step"} <= set(dir(vars(module)[name]))
    ]
    typed = " or ".join(f"--env {file}:{name}" for name in names[:SHOWN])
    return f"{file!r} is a file: say which environment in it, as " + (
        typed or f"--env {file}:Class."
    )
