"""What is given now to make a saved plan again: settings, and plugins that are passed again."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from rlk.component import Component
from rlk.planning.draft import leaves_out
from rlk.planning.parse import parse_plugin
from rlk.registry.external import (
    PASSED,
    find_entry,
    is_code_place,
    name_of_class,
    own_component,
    without_number,
)
from rlk.registry.registries import Registries
from rlk.restoring.saved_records import SavedComponent


@attrs.frozen
class GivenNow:
    """What is given now, on top of a saved plan."""

    algo: Any  #: the algorithm of the saved plan, by its name or as it is passed now
    plugins: tuple[Any, ...]  #: those passed now, without the algorithm
    settings: Mapping[str, Any]  #: by dotted key
    registries: Registries  #: where components are found by their names

    @cached_property
    def names(self) -> tuple[str | None, ...]:
        """The names of these plugins in a plan; a place among them is looked up once."""
        return tuple(name_in_plan(one, self.registries) for one in self.plugins)

    @property
    def algorithm(self) -> Component:
        """The algorithm, whose settings may select or activate plugins."""
        return find_entry(self.algo, "algorithms", self.registries).component()

    def passes(self, saved: SavedComponent) -> bool:
        """Whether one of the plugins is this component again."""
        return any(is_called(saved, name) for name in self.names)


def name_in_plan(plugin: Any, registries: Registries) -> str | None:
    """The name in a plan of a plugin that is passed now; None for an installed one."""
    if not isinstance(plugin, str):
        if (component := own_component(plugin)) is not None:
            return component.name
        return name_of_class(plugin)
    name, _ = parse_plugin(plugin)
    if leaves_out(plugin) or not is_code_place(name):
        return None
    return find_entry(name, None, registries).component().name


def is_called(saved: SavedComponent, name: str | None) -> bool:
    """Whether a plugin of that name is this component again.

    In a plan, an object with hooks, or a class of these, has its class's own name and a number.
    """
    is_object = saved.dist == PASSED and saved.role == "extension"
    return name == saved.name or (is_object and name == without_number(saved.name))
