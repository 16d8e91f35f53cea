"""Components that no entry point names: at `./file.py`, at `module:Object`, or an object."""

from __future__ import annotations

from typing import Any

from rlk.component import Component
from rlk.environment import load_object
from rlk.errors import PlanError
from rlk.registry import KINDS, Entry

PASSED = "passed as object"
#: What a class can do, and what kind it is then; the first that fits.
_METHODS = (
    ({"open", "add", "state_dict"}, "storages"),
    ({"open", "added"}, "storages"),
    ({"update", "batches"}, "algorithms"),
    ({"sample", "log_prob"}, "distributions"),
    ({"step", "reset"}, "wrappers"),
    ({"build"}, "policies"),
)


def is_path(name: str) -> bool:
    """Whether a name is a place (`./file.py`, `module:Object`) and not a component's."""
    return ":" in name or name.endswith(".py")


def loose_entry(asked: Any, kind: str | None = None, number: int | None = None) -> Entry:
    """The entry for a path or an object: a Component, a class or function, or a module of hooks.

    Args:
        kind: where it goes if its component does not say; None guesses from what it can do.
        number: put behind the name of an object, of which there may be several.
    """
    path, found = (asked, load_object(asked, "plugin")) if isinstance(asked, str) else ("", asked)
    component = getattr(found, "component", found)
    if not isinstance(component, Component):
        component = _described(found, path, "" if number is None else f"-{number}")
    can = set(dir(found))
    hooks = ["extensions"] if any(name.startswith("rlk_") for name in can) else []
    guesses = [*hooks, *(kind for methods, kind in _METHODS if methods <= can), None]
    kind = component.kind or kind or guesses[0]
    if kind not in KINDS:
        raise PlanError(
            f"cannot tell what kind of plugin {component.name!r} is. Give an "
            f"rlk.Component(kind=…); kinds: {', '.join(KINDS)}."
        )
    return Entry(kind, component.name, path or PASSED, "", lambda: component)


def _described(found: Any, path: str, number: str) -> Component:
    name = getattr(found, "__name__", type(found).__name__).rpartition(".")[2].replace("_", "-")
    hooks = any(name.startswith("rlk_") for name in dir(found))
    if hooks and not isinstance(found, type):
        return Component(name=name + number, factory=lambda: found, kind="extensions")
    if callable(found):
        return Component(name=name, factory=found, config=getattr(found, "config", None))
    raise PlanError(
        f"plugin {path or found!r} is {type(found).__name__}, but must be an rlk.Component, a "
        "class, a function, or a module with hook implementations or a `component`."
    )
