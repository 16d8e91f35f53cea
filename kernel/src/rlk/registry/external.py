"""Components that no entry point names: passed as objects, or found at a place. A component of kind
`finders` is a function of a place and the kind that is wanted (None: any), which answers None or
with a Component; if it runs code for that, it sets `runs_code`."""

from __future__ import annotations

from typing import Any

from rlk.component import Component
from rlk.errors import PlanError
from rlk.registry.kernel import Entry, Registries

PASSED = "passed as object"


def is_place(name: str) -> bool:
    """Whether a name is a place (`./file.py`, `module:Object`) and not a component's."""
    return ":" in name or name.endswith(".py")


def loose_entry(asked: Any, kind: str | None, registries: Registries) -> Entry:
    """The entry for a place or an object, of that kind if its component does not say its own."""
    at = isinstance(asked, str)
    component = described(registries.finders.ask("plugin", asked, kind)[1] if at else asked)
    place = asked if at else PASSED
    return Entry(component.kind or str(kind), component.name, place, "", lambda: component)


def hooks_entry(plugin: Any, number: int) -> Entry:
    """The entry for an object that implements hooks, of which there may be several of one class."""
    name = f"{type(plugin).__name__}-{number}"
    component = Component(name=name, factory=lambda: plugin)
    return Entry("extensions", name, PASSED, "", lambda: component)


def described(found: Any) -> Component:
    """A class or function as a Component, if it is none nor has one; a PlanError for the rest."""
    component = getattr(found, "component", found)
    if isinstance(component, Component):
        return component
    if not callable(found):
        kind = type(found).__name__
        raise PlanError(f"plugin {found!r:.80} is {kind}, no rlk.Component, class or function.")
    name = getattr(found, "__name__", type(found).__name__).rpartition(".")[2].replace("_", "-")
    return Component(name=name, factory=found, config=getattr(found, "config", None))
