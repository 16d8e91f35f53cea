"""Components named by a place, for `--plugin`, `--policy` and so on."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

import attrs

from rlk.component import Component
from rlk.errors import SHOWN, PlanError
from rlk.registry.external import as_component, own_component
from rlk.registry.guess import guessed_kind
from rlk.registry.kinds import KINDS
from rlk_code.constructor_settings import WithSettings, settings_of
from rlk_code.place import FILE_PREFIX, classes_of, object_at

#: How many arguments of a constructor are no settings, by kind; for other kinds, none is a setting.
_LEFT_OUT = {"wrappers": 1, "extensions": 0}


def component_at(place: str, kind: str | None = None) -> Component:
    """The component at a place, or one made from a class, function or module of hooks there.

    Args:
        kind: used if its component does not state one; None guesses it from the methods.

    Raises:
        PlanError: if nothing is found there, it is not a plugin, or its kind is unclear.
    """
    found = object_at(place, "plugin")
    if _is_used_as_it_is(found):
        return Component(name=_name(found), factory=lambda: found, kind="extensions")
    if not callable(found) and own_component(found) is None:
        raise PlanError(_no_plugin(place, found))
    component = as_component(found)
    kind = component.kind or kind or guessed_kind(found)
    if kind not in KINDS:
        raise PlanError(
            f"cannot tell what kind of plugin {component.name!r} is: it implements no hook "
            "(a method such as rlk_step, marked with @rlk.hookimpl). If it is not an extension: "
            f"rlk.Component(kind=…), one of {', '.join(KINDS)}."
        )
    if kind in _LEFT_OUT and component.factory is found and component.config is None:
        component = _with_settings(component, found, _LEFT_OUT[kind])
    summary = component.summary or _first_line(found)
    return attrs.evolve(component, kind=kind, summary=summary)


def _with_settings(component: Component, made_by: Any, leave_out: int) -> Component:
    """The component of a class whose arguments, but for the first ones, are settings."""
    config = settings_of(made_by, leave_out=leave_out)
    if config is None:
        return component
    return attrs.evolve(component, config=config, factory=WithSettings(made_by))


def _first_line(found: Any) -> str:
    """The first line of its own docstring, as `rlk plugins show` prints it."""
    lines = inspect.cleandoc(getattr(found, "__doc__", None) or "").splitlines()
    return lines[0] if lines else ""


def _is_used_as_it_is(found: Any) -> bool:
    """Whether it is a module or an object, not a class, that implements hooks."""
    if isinstance(found, type) or own_component(found) is not None:
        return False
    attributes = getattr(found, "__dict__", {}).values()
    return any(hasattr(value, "rlk_impl") for value in attributes)


def _no_plugin(place: str, found: Any) -> str:
    """Why the object at a place cannot be used, and which objects in it could be."""
    if not isinstance(found, ModuleType):
        kind = type(found).__name__
        return f"plugin {place!r} is {kind}, but must be an rlk.Component, a class or a function."
    problem = (
        f"the module {place!r} implements no hook and has no `component`, which must be an "
        "rlk.Component"
    )
    names = classes_of(found)
    if not names:
        return f"{problem}."
    places = " or ".join(f"{place}:{name}" for name in names[:SHOWN])
    return f"{problem}. If a class in it is meant, name it: {places}"


def _name(found: Any) -> str:
    name = found.__name__ if isinstance(found, ModuleType) else type(found).__name__
    name = name.removeprefix(FILE_PREFIX)
    return name.rpartition(".")[2].replace("_", "-")
