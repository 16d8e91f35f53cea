"""A run that is being planned: the algorithm, the settings, and the plugins put in so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.layers import Rank, SettingLayers
from rlk.planning.parse import parse_plugin
from rlk.registry.entry import Entry
from rlk.registry.external import PASSED, find_entry, passed_entry
from rlk.registry.kinds import LISTS, SLOTS
from rlk.registry.registries import Registries

#: Begins the name of a plugin that is to be left out.
_NO = "no:"
#: Settings that nobody proposes: they are read before anybody is asked.
_USERS_OWN = ("out", "preset")


def is_refusal(plugin: Any) -> bool:
    """Whether it is a `no:NAME`, which leaves a plugin out."""
    return isinstance(plugin, str) and plugin.startswith(_NO)


@attrs.frozen
class Draft:
    """What a run is made of, as far as it has been decided; every method returns a new draft."""

    registries: Registries
    algorithm: Choice
    layers: SettingLayers
    plugins: Mapping[str, Choice] = attrs.field(factory=dict)  #: what fills no slot, by name
    refused: tuple[str, ...] = ()  #: components that are left out, by their own names
    preset: str = ""  #: the one that was applied
    notes: tuple[str, ...] = ()  #: what the user should be told

    def with_settings(self, values: Mapping[str, Any], by: str, rank: Rank) -> Draft:
        """With settings by dotted key; `plugins` is a list of plugins to put in.

        Raises:
            PlanError: if another value of the same rank contradicts one of them, or if it is the
                user's alone.
        """
        draft = self
        for key, value in values.items():
            if key == "plugins":
                draft = draft.with_plugins(value, by, rank)
            elif key in _USERS_OWN and rank < Rank.FILE:
                raise PlanError(f"{by} proposes {key}={value!r}, which only the user may set.")
            else:
                draft = attrs.evolve(draft, layers=draft.layers.set(key, value, by, rank))
        return draft

    def with_plugins(self, plugins: Iterable[Any], by: str, rank: Rank) -> Draft:
        """With plugins: `NAME[:key=value,…]`, `no:NAME`, components, or what implements hooks."""
        draft = self
        for plugin in plugins:
            if is_refusal(plugin):
                draft = draft.without([plugin])
            elif isinstance(plugin, str):
                draft = draft._with_named(plugin, by, rank)
            else:
                number = sum(choice.dist == PASSED for choice in draft.plugins.values())
                draft = draft._with_entry(passed_entry(plugin, number), plugin, by, rank)
        return draft

    def without(self, plugins: Iterable[Any]) -> Draft:
        """With every `no:NAME` of a list left out, also if something asks for it later.

        A name that the list asks for after its `no:` is not left out.
        """
        refused: dict[str, None] = {}
        for plugin in plugins:
            if is_refusal(plugin):
                found = self.registries.find(plugin.removeprefix(_NO))
                refused[self.registries.own_name(found.name)] = None
            elif isinstance(plugin, str):
                refused.pop(self.registries.own_name(parse_plugin(plugin)[0]), None)
        return attrs.evolve(self, refused=tuple(dict.fromkeys((*self.refused, *refused))))

    def with_notes(self, *notes: str) -> Draft:
        """With more that the user should be told."""
        return attrs.evolve(self, notes=(*self.notes, *notes))

    def _with_named(self, plugin: str, by: str, rank: Rank) -> Draft:
        name, settings = parse_plugin(plugin)
        entry = find_entry(name, None, self.registries)
        if self.registries.own_name(entry.name) in self.refused:
            return self
        own = entry.component().name
        draft = self._with_entry(entry, name, by, rank)
        return draft.with_settings(
            {f"{own}.{key}": value for key, value in settings.items()}, by, rank
        )

    def _with_entry(self, entry: Entry, asked: Any, by: str, rank: Rank) -> Draft:
        """With a component, as it was asked for, where its kind belongs: in a slot or in a list."""
        slot = next((slot for slot, kind in SLOTS.items() if kind == entry.kind), None)
        choice = Choice.of(entry, slot or entry.kind, by)
        if entry.kind in LISTS or choice.component.stages:
            if choice.name in self.plugins:
                return self
            return attrs.evolve(self, plugins={**self.plugins, choice.name: choice})
        if slot:
            return self.with_settings({slot: asked}, by, rank)
        is_algo = entry.kind in ("algorithms", "recipes")
        hint = f"; choose it with --algo {asked}" if is_algo else ""
        raise PlanError(f"{entry.title} is no part of a run that --plugin puts in{hint}.")
