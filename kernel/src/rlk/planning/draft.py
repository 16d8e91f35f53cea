"""A run that is being planned: the algorithm, the settings, and the plugins put in so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.layers import Origin, Rank, SettingLayers
from rlk.planning.parse import parse_plugin
from rlk.planning.spec import plugins_of
from rlk.registry.entry import Entry
from rlk.registry.external import PASSED, find_entry, passed_entry
from rlk.registry.kinds import LISTS, slot_of
from rlk.registry.registries import Registries

#: The prefix of a plugin to leave out.
_NO = "no:"
#: Settings that only the user gives: they are read before anything is proposed.
_USERS_OWN = ("out", "preset", "verbose")
#: Kinds that a run has one of by another key than `plugins`.
_CHOSEN_BY = {"algorithms": "algo", "recipes": "algo", "environments": "env"}


def leaves_out(plugin: Any) -> bool:
    """Whether it is a `no:NAME`, which leaves out a plugin."""
    return isinstance(plugin, str) and plugin.startswith(_NO)


@attrs.frozen
class Draft:
    """The parts of a run that are decided so far; every method returns a new draft."""

    registries: Registries
    algorithm: Choice
    layers: SettingLayers
    #: Members of lists, and decorators, by name; the component of a slot is a setting of `layers`.
    plugins: Mapping[str, Choice] = attrs.field(factory=dict)
    #: The highest rank with which each of them was asked for.
    ranks: Mapping[str, Rank] = attrs.field(factory=dict)
    left_out: tuple[str, ...] = ()  #: components that `no:NAME` leaves out, by their own names
    gone: tuple[str, ...] = ()  #: components that only the user puts in (`RunSpec.gone`)
    preset: str = ""  #: the one that was applied
    notes: tuple[str, ...] = ()  #: what the user should be told

    def with_settings(
        self, values: Mapping[str, Any], origin: Origin, rank: Rank | None = None, asked: str = ""
    ) -> Draft:
        """With settings by dotted key; `plugins` is a list of plugins to put in.

        Args:
            values: the settings.
            origin: who gives them.
            rank: theirs, if it is not that of their origin.
            asked: how they were asked for, if not by their keys.

        Raises:
            PlanError: if a value of the same rank contradicts one of them, or if only the user may
                set it.
        """
        draft = self
        for key, value in values.items():
            if key == "plugins":
                plugins = plugins_of(value, f"{origin}: ")
                left_out = [one for one in plugins if leaves_out(one)]
                if left_out and origin.rank < Rank.FILE:
                    raise PlanError(
                        f"{origin} proposes {left_out[0]}; only the user leaves plugins out."
                    )
                draft = draft.with_plugins(plugins, origin)
            elif key in _USERS_OWN and origin.rank < Rank.FILE:
                raise PlanError(f"{origin} proposes {key}={value!r}, which only the user may set.")
            else:
                layers = draft.layers.with_setting(key, value, origin, rank, asked)
                draft = attrs.evolve(draft, layers=layers)
        return draft

    def with_plugins(self, plugins: Iterable[Any], origin: Origin) -> Draft:
        """With plugins: `NAME[:key=value,…]`, components, or objects with hooks."""
        draft = self
        for plugin in plugins:
            if isinstance(plugin, str):
                draft = draft._with_named(plugin, origin)
            else:
                draft = draft._with_entry(passed_entry(plugin, draft.plugins), plugin, origin)
        return draft

    def without(self, plugins: Iterable[Any]) -> Draft:
        """With every `no:NAME` of a list left out, even if something asks for it later.

        A name that the list asks for after its `no:` is not left out.

        Raises:
            PlanError: for the algorithm.
        """
        left_out: dict[str, None] = {}  # a set that keeps its order
        for plugin in plugins:
            if leaves_out(plugin):
                found = self.registries.find(plugin.removeprefix(_NO), guess_commands=False)
                own_name = self.registries.own_name(found.name)
                if own_name == self.algorithm.name:
                    raise PlanError(
                        f"{plugin} would leave out the algorithm of the run. Use --algo NAME for "
                        "another one."
                    )
                left_out[own_name] = None
            elif isinstance(plugin, str):
                left_out.pop(self.registries.own_name(parse_plugin(plugin)[0]), None)
        return attrs.evolve(self, left_out=tuple(left_out))

    def keeps_out(self, name: str, rank: Rank = Rank.USER) -> bool:
        """Whether a component is left out, or is gone and asked for with less than user's rank."""
        not_wanted = (*self.left_out, *(self.gone if rank < Rank.USER else ()))
        return bool(not_wanted) and self.registries.own_name(name) in not_wanted

    def rank_of(self, choice: Choice) -> Rank:
        """The rank with which a component of this run was asked for."""
        own = self.ranks.get(choice.name)
        return self.layers.find(choice.slot).rank if own is None else own

    def with_notes(self, *notes: str) -> Draft:
        """With more notes for the user."""
        return attrs.evolve(self, notes=(*self.notes, *notes))

    def _with_named(self, plugin: str, origin: Origin) -> Draft:
        """With `NAME[:key=value,…]`, unless that name is left out or gone."""
        name, settings = parse_plugin(plugin)
        if self.keeps_out(name, origin.rank):
            return self
        entry = find_entry(name, None, self.registries, guess_commands=False)
        own = entry.component().name
        draft = self._with_entry(entry, name, origin)
        values = {f"{own}.{key}": value for key, value in settings.items()}
        return draft.with_settings(values, origin, asked=f"plugin {plugin!r}")

    def _with_entry(self, entry: Entry, asked: Any, origin: Origin) -> Draft:
        """With a component where its kind belongs.

        A component for a slot becomes the slot's setting, so that a higher rank can replace it.

        Args:
            entry: of the component.
            asked: how it was asked for: by its name, a place, or an object.
            origin: who asks for it.
        """
        slot = slot_of(entry.kind)
        if entry.kind in LISTS or entry.component().stages:
            return self._with_choice(Choice.of(entry, origin, slot))
        if slot:
            return self.with_settings({slot: asked}, origin, asked=f"plugin {asked!r:.80}")
        key = _CHOSEN_BY.get(entry.kind)
        typed = f"--{key} {asked}" if isinstance(asked, str) else f"{key}=…"
        hint = f"; choose it with {typed}" if key else ""
        raise PlanError(f"{entry.title} is not part of a run that --plugin puts in{hint}.")

    def _with_choice(self, choice: Choice) -> Draft:
        """With a member of a list, or a decorator, unless it was put in already.

        Raises:
            PlanError: for another one of the same name.
        """
        other = self.plugins.get(choice.name)
        if other is None or _are_the_same(choice, other):
            rank = max(choice.origin.rank, self.ranks.get(choice.name, Rank.DEFAULT))
            plugins = {**self.plugins, choice.name: other or choice}
            return attrs.evolve(self, plugins=plugins, ranks={**self.ranks, choice.name: rank})
        raise PlanError(
            f"two plugins have the name {choice.name!r} ({other.owner}; {choice.owner}): "
            "their settings could not be told apart. Rename one, or pass it as "
            f"rlk.Component(name='another-name', kind={choice.kind!r}, factory=…)."
        )


def _are_the_same(one: Choice, other: Choice) -> bool:
    """Whether one component was chosen twice; what comes from a place may be loaded twice."""
    if one.dist != other.dist or one.dist != PASSED:
        return one.dist == other.dist
    return one.component.factory is other.component.factory
