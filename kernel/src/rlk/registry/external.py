"""Components that no entry point names: passed as objects, or found at a place.

A place is a text such as `./file.py:Class` or `package.module:Class`. Components of the kind
`finders` resolve places: each is a function of a place and of the wanted kind (None means any), and
returns a Component, or None if it does not handle the place. A finder that runs code declares it
with `runs_code`, and is asked after all others.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Container
from functools import partial
from typing import Any

from rlk import settings
from rlk.component import Component, check_name
from rlk.errors import PlanError, UnknownName
from rlk.registry.entry import Entry
from rlk.registry.guess import guessed_kind
from rlk.registry.kinds import KINDS, misspelt
from rlk.registry.registries import Registries

#: The owner of a component that was passed as an object.
PASSED = "passed as object"


def is_code_place(name: str) -> bool:
    """Whether a text is a place (`./file.py`, `module:Object`) and not a component's name."""
    return ":" in name or name.endswith(".py")


def is_external(owner: str) -> bool:
    """Whether what a component comes from is a place, or a program that passed it as an object."""
    return owner == PASSED or is_code_place(owner)


def find_entry(
    asked: Any, kind: str | None, registries: Registries, *, guess_commands: bool = True
) -> Entry:
    """The entry for a name, a place or an object; of any kind if `kind` is None.

    `guess_commands` is that of `Registries.find`.

    Raises:
        PlanError: if there is no such component.
    """
    if not isinstance(asked, str) or is_code_place(asked):
        _refuse_setting_without_value(asked, registries)
        return external_entry(asked, kind, registries)
    if kind is not None:
        return registries[kind].get(asked)
    return registries.find(asked, guess_commands=guess_commands)


def _refuse_setting_without_value(asked: Any, registries: Registries) -> None:
    """PlanError for `evaluation:every` or `evaluation:`, which look like places but are none."""
    name, _, rest = asked.partition(":") if isinstance(asked, str) else ("", "", "")
    if name in registries:
        if not rest:
            raise PlanError(f"{asked!r} ends in a colon. Type {name}:KEY=VALUE, or {name} alone.")
        key = rest.partition(",")[0]
        if key in settings.names(registries.find(name).component().config):
            raise PlanError(f"the setting {key!r} needs a value: {name}:{key}=VALUE")


def external_entry(asked: Any, kind: str | None, registries: Registries) -> Entry:
    """The entry for a place or an object, of that kind unless its component names its own.

    Raises:
        PlanError: if no finder resolves the place, the object cannot be a component, or nothing
            says the kind of the component.
    """
    if isinstance(asked, str):
        _, found = registries.finders.ask("plugin", asked, kind)
        owner = asked
    else:
        found, owner = asked, PASSED
    return _external(as_component(found), kind, owner)


def _external(component: Component, kind: str | None, owner: str) -> Entry:
    """The entry of a component, of its own kind or else of this one; PlanError if both are None."""
    _refuse_misspelt_kind(component)
    kind = component.kind or kind
    if kind is None:
        kinds = "rlk.Component(kind='wrappers', …), or 'callbacks', 'storages', …"
        raise PlanError(
            f"plugin {component.name!r} ({owner}) does not say its kind. Write {kinds}."
        )
    return Entry(kind, component.name, owner, "", lambda: component)


def passed_entry(plugin: Any, taken: Container[str]) -> Entry:
    """The entry for a plugin that was passed: a component, or an object with hooks.

    Args:
        plugin: a Component of any kind; a class whose methods show its kind, such as a Gymnasium
            wrapper; an object or a module that implements hooks, or a class of such objects, of
            which every run makes its own; a `functools.partial` of either class.
        taken: the names of the plugins before it. An object is called `CLASS-0`, the next one of
            that class `CLASS-1`, whatever else is passed: its saved state is found by that name.

    Raises:
        PlanError: for None, a component that does not say its kind, or misspells it, or a class
            with a name that cannot be typed.
    """
    if plugin is None:
        raise PlanError("plugins holds None, which does nothing. Leave it out.")
    kind = guessed_kind(plugin) if isinstance(plugin, (type, partial)) else None
    if own_component(plugin) is not None or kind not in (None, "extensions"):
        return _external(as_component(plugin), kind, PASSED)
    stem = name_of_class(plugin)
    name = next(one for n in itertools.count() if (one := f"{stem}-{n}") not in taken)
    is_made = isinstance(plugin, type) or kind == "extensions"
    hooks = Component(name=name, factory=plugin if is_made else lambda: plugin)
    return Entry("extensions", name, PASSED, "", lambda: hooks)


def name_of_class(plugin: Any) -> str:
    """The name of the component that is made for a class, a partial of one, or an object of one.

    That of hooks has a number besides: see `without_number`.
    """
    return made_name(plugin if isinstance(plugin, (type, partial)) else type(plugin))


def without_number(name: str) -> str:
    """The name of its class in the name of an object with hooks: `Climbs` of `Climbs-0`."""
    return re.sub(r"-\d+$", "", name)


def _refuse_misspelt_kind(component: Component) -> None:
    """UnknownName for `kind="extension"`; kinds are plural."""
    kind = component.kind
    if kind is not None and (meant := misspelt(kind)) is not None:
        raise UnknownName("kind", kind, KINDS, meant=(meant,), where=f"plugin {component.name!r}")


def own_component(found: Any) -> Component | None:
    """The Component that an object is, or that a class or a module has as `component`, or None."""
    component = getattr(found, "component", found)
    return component if isinstance(component, Component) else None


def as_component(found: Any) -> Component:
    """A Component unchanged, the one of a class that has one, or one made for a class or function.

    A class may have attributes `config`, the class of its settings, and `recurrent`, which is True
    for a policy with a memory; they become those of the component.

    Raises:
        PlanError: for anything else, or a name that cannot be typed.
    """
    if (component := own_component(found)) is not None:
        return component
    if not callable(found):
        kind = type(found).__name__
        raise PlanError(f"plugin {found!r:.80} is {kind}, no rlk.Component, class or function.")
    made = getattr(found, "func", found)  # of a partial
    return Component(
        name=made_name(found),
        factory=found,
        config=getattr(found, "config", None),
        recurrent=getattr(made, "recurrent", False) is True,
    )


def made_name(found: Any) -> str:
    """The name of the component that is made for a class, a function or a partial of one."""
    function = getattr(found, "func", found)
    name: str = getattr(function, "__name__", type(function).__name__)
    return _usable(name.rpartition(".")[2], found).replace("_", "-")


def _usable(name: str, found: Any) -> str:
    """A name of Python as one of a component; PlanError if it is none."""
    name = name.strip("<>_")
    try:
        check_name("a name", name)
    except ValueError as error:
        raise PlanError(
            f"plugin {found!r:.80} has no name that can be typed: {error}. Rename it, or pass "
            "rlk.Component(name='my-plugin', kind=…, factory=…)."
        ) from None
    return name
