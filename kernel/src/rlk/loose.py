"""Components that no entry point names.

`--plugin ./file.py`, `--storage package.module:Object`, or an object passed.
"""

from __future__ import annotations

from typing import Any

from rlk.component import Component
from rlk.environment import load_object
from rlk.errors import PlanError
from rlk.registry import KINDS, Entry


def loose_entry(asked: Any, kind: str | None = None) -> Entry:
    """The entry for a path, a class, a function or a Component.

    A file or module may hold a `component`, or module-level hook implementations (it is an
    extension then).

    Args:
        kind: where it goes; None asks the component, or guesses from the methods of a class.

    Raises:
        PlanError: if it cannot be loaded, or is nothing that rlk can use.
    """
    name, found = (asked, load_object(asked, "plugin")) if isinstance(asked, str) else ("", asked)
    found = getattr(found, "component", found)
    if isinstance(found, Component):
        component = found
    elif _has_hooks(found):
        component = Component(name=_name(found, name), factory=lambda: found, kind="extensions")
    elif callable(found):
        component = Component(
            name=_name(found, name), factory=found, config=getattr(found, "config", None)
        )
    else:
        raise PlanError(
            f"plugin {name or found!r} is {type(found).__name__}, but must be an rlk.Component, "
            "a class, a "
            "function, or a module with hook implementations or a `component`."
        )
    kind = component.kind or kind or _guess(found)
    if kind not in KINDS:
        raise PlanError(
            f"cannot tell what kind of plugin {name or component.name!r} is. Give an "
            f"rlk.Component(kind=…); kinds: {', '.join(KINDS)}."
        )
    return Entry(kind, component.name, name or "passed as object", "", lambda: component)


def is_path(name: str) -> bool:
    """Whether a name is a place (`./file.py`, `module:Object`) and not a component's."""
    return ":" in name or name.endswith(".py")


def _has_hooks(found: Any) -> bool:
    marked = (
        [value for key, value in vars(found).items() if key.startswith("rlk_")]
        if hasattr(found, "__dict__")
        else []
    )
    return not isinstance(found, type) and any(hasattr(value, "rlk_impl") for value in marked)


def _guess(found: Any) -> str | None:
    methods = set(dir(found))
    if any(method.startswith("rlk_") for method in methods):
        return "extensions"
    if {"open", "add", "state_dict"} <= methods or {"open", "added"} <= methods:
        return "storages"
    if {"update", "batches"} <= methods:
        return "algorithms"
    if {"encoder", "trunk"} <= methods:
        return "policies"
    if {"open", "write", "close"} <= methods:
        return "loggers"
    if {"sample", "log_prob"} <= methods:
        return "distributions"
    if {"step", "reset"} <= methods:
        return "wrappers"
    return None


def _name(found: Any, path: str) -> str:
    own = getattr(found, "__name__", type(found).__name__).rpartition(".")[2]
    return own.replace("_", "-") if own else path
