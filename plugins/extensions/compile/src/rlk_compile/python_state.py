"""Detects updates that change Python state, which a compiled update would not change.

A graph only changes tensors: an update that counts its calls in an `int` would stop counting once
it is compiled. Such updates are therefore not compiled.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Any

from torch import nn

#: How deep attributes are followed: 2 is the owner and the objects in its attributes.
DEPTH = 2
_GONE = object()
_CONTAINERS = (list, dict, set, deque)


class PythonState:
    """A snapshot of objects' attributes, and of the containers and further objects among them.

    Attributes are not followed into modules or into objects of the kernel (the run, the groups),
    torch, numpy and gymnasium. Those are included only as owners.
    """

    def __init__(self, owners: Iterable[object]) -> None:
        self._objects: dict[int, tuple[object, dict[str, Any]]] = {}
        self._contents: dict[int, tuple[str, Any, Any]] = {}
        for owner in owners:
            self._keep(owner, DEPTH)

    def _keep(self, owner: object, depth: int) -> None:
        if id(owner) in self._objects:
            return
        attributes = dict(vars(owner))
        self._objects[id(owner)] = owner, attributes
        for name, value in attributes.items():
            if isinstance(value, _CONTAINERS):
                place = f"{type(owner).__name__}.{name}"
                self._contents[id(value)] = place, value, value.copy()
            elif depth > 1 and hasattr(value, "__dict__") and _ours(value):
                self._keep(value, depth - 1)

    def changed(self) -> str:
        """The first attribute that has changed, or "" if none has."""
        return self._compare(restore=False)

    def put_back(self) -> str:
        """The first attribute that has changed, or ""; everything is restored to the snapshot."""
        return self._compare(restore=True)

    def _compare(self, restore: bool) -> str:
        found = ""
        for owner, before in self._objects.values():
            now = vars(owner)
            names = {**before, **now}
            changed = [n for n in names if now.get(n, _GONE) is not before.get(n, _GONE)]
            if changed:
                found = found or f"{type(owner).__name__}.{changed[0]}"
                if restore:
                    now.clear()
                    now.update(before)
        for place, container, before in self._contents.values():
            if not _same(container, before):
                found = found or place
                if restore:
                    container.clear()
                    sequence = isinstance(before, (list, deque))
                    (container.extend if sequence else container.update)(before)
        return found


def _ours(value: object) -> bool:
    module = type(value).__module__
    known = ("rlk.", "torch", "numpy", "builtins", "gymnasium")
    return not isinstance(value, (nn.Module, type)) and not module.startswith(known)


def _same(now: Any, before: Any) -> bool:
    if len(now) != len(before):
        return False
    if isinstance(now, dict):
        return list(now) == list(before) and all(now[key] is before[key] for key in now)
    if isinstance(now, set):
        return bool(now == before)
    return all(one is other for one, other in zip(now, before, strict=True))
