"""Environments by their place: a class or a function at `module:Class` or `./file.py:Class`."""

from __future__ import annotations

from typing import Any

import attrs

from rlk_code.place import object_at, split


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
        return found(**keywords) if callable(found) else found


def environment_at(asked: str) -> AtPlace | None:
    """What makes that environment; None for what names no class, as `CartPole-v1` or `mine:Id-v0`.

    Nothing is loaded yet.
    """
    where, path = split(asked)
    is_class = where.endswith(".py") or path.replace(".", "_").isidentifier()
    return AtPlace(asked) if where and path and is_class else None
