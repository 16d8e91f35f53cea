"""Environments named by a place: a class or function at `module:Class` or `./file.py:Class`."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import attrs

from rlk.errors import SHOWN, PlanError
from rlk.signatures import keywords_instead, without_suggestion
from rlk_code.place import classes_of, object_at, split


@attrs.frozen
class AtPlace:
    """A function from keyword arguments to that environment; in a worker, it loads the place."""

    place: str

    @property
    def again(self) -> str:
        """The place itself: no saved file may name it."""
        return self.place

    def __call__(self, **keywords: Any) -> Any:
        """The environment, or the object at the place if it is not a class or function."""
        found = object_at(self.place, "environment")
        if isinstance(found, ModuleType):
            raise PlanError(_which_class(self.place, found))
        if not callable(found):
            return found
        try:
            return found(**keywords)
        except TypeError as error:
            if instead := keywords_instead(found, keywords):
                error.args = (without_suggestion(error),)
                error.add_note(instead)
            raise


def environment_at(asked: str) -> AtPlace | None:
    """A function that makes that environment; None for names such as `CartPole-v1`, `mine:Id-v0`.

    Nothing is loaded yet. A file without a class is an error later, which lists its classes.
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
