"""What stands in for parts of training that are not there, where a saved model only acts.

Acting uses the policy, and wrappers and extensions unless they say that they only train. It uses
some vector environment, too, but any one will do: the algorithm's own, which is in this process.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import attrs

from rlk.errors import UnknownName
from rlk.planning.environment import EnvChoice
from rlk.planning.parse import parse_plugin
from rlk.planning.restored_components import not_passed_again
from rlk.planning.saved_records import SavedComponent
from rlk.registry.external import find_entry
from rlk.registry.registries import Registries


@attrs.frozen
class StandIns:
    """Finds what acts in the place of an absent part of training.

    Attributes:
        algo: the algorithm of the saved plan, by its name or as it is passed now.
        plugins, changes: those passed now.
        registries: where components are found by their names.
        env: the environment that is passed now, or None.
    """

    algo: Any
    plugins: tuple[Any, ...]
    changes: Mapping[str, Any]
    registries: Registries
    env: Any = None

    @property
    def _has_spaces_alone(self) -> bool:
        return isinstance(self.env, EnvChoice) and bool(self.env.missing)

    def why_absent(self, saved: SavedComponent) -> str | None:
        """Why a part that acting can do without is not there; None if it is, or is needed."""
        if not saved.is_for_training or saved.slot in self.changes:
            return None
        if saved.slot == "decorator" and self._has_spaces_alone:
            return "it may ask the environment, which is not there either"
        if not saved.is_external:
            return saved.absence(self.registries)
        if not_passed_again([saved], self.plugins, self.changes, self.registries):
            return "no file may run it by itself, and it was not passed again"
        return None

    def in_this_process(self, components: Iterable[SavedComponent]) -> list[SavedComponent]:
        """The components, with the algorithm's own vector environment in the place of another one.

        Other processes are for training. Not replaced is one that is asked for or changed now; nor,
        where the environment is there, one that makes its environments only together, or that has
        hooks, which may take over processes.
        """
        return [self._own_vector(one) if one.slot == "vec_env" else one for one in components]

    def _own_vector(self, saved: SavedComponent) -> SavedComponent:
        is_asked_for = saved.slot in self.changes or saved.name in self.plugins
        is_changed = any(key.startswith(saved.prefix) for key in self.changes)
        if is_asked_for or is_changed or saved.is_external or saved.absence(self.registries):
            return saved
        entry = saved.entry(self.registries)
        component = None if entry is None else entry.component()
        is_needed = component is None or component.scope == "vector" or component.hooks
        if is_needed and not self._has_spaces_alone:
            return saved
        other = self.of(saved)
        return saved if other is None or other.name == saved.name else other

    def of(self, saved: SavedComponent) -> SavedComponent | None:
        """The algorithm's own choice for that slot with its default settings, if both are there."""
        try:
            component = find_entry(self.algo, "algorithms", self.registries).component()
        except UnknownName:
            return None  # the algorithm is missing, too, and is what cannot be done without
        name = component.defaults.get(saved.slot)
        if not isinstance(name, str) or name not in self.registries:
            return None
        made = attrs.evolve(saved, name=name, dist="", version="", settings={}, set_by={})
        return made if made.absence(self.registries) is None else None


def without_settings_of(
    gone: Collection[str], given: Mapping[str, Any], algo: Any, registries: Registries
) -> dict[str, Any]:
    """The settings of a saved plan, without those of the algorithm that would put in what is gone.

    Args:
        gone: names of components.
        given: the settings, those of the algorithm with its name before the dot.
        algo: the algorithm, whose settings may select or activate plugins, as in `StandIns`.
        registries: where components are found by their names.
    """
    given = dict(given)
    if not gone:
        return given
    algorithm = find_entry(algo, "algorithms", registries).component()
    for key in algorithm.selects:
        value = given.get(f"{algorithm.name}.{key}")
        if isinstance(value, str) and _is_gone(parse_plugin(value)[0], gone, registries):
            given[f"{algorithm.name}.{key}"] = None
    for key, plugin in algorithm.activates.items():
        value = given.get(f"{algorithm.name}.{key}")
        if value and plugin in gone:
            given[f"{algorithm.name}.{key}"] = False if value is True else None
    return given


def _is_gone(name: str, gone: Collection[str], registries: Registries) -> bool:
    """Whether a name is of a component that is gone; an alias of one may be gone with it."""
    return registries.own_name(name) in gone or name not in registries
