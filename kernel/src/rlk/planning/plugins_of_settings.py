"""Plugins that settings of the algorithm put in, by naming or by activating them."""

from __future__ import annotations

from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.draft import Draft
from rlk.planning.layers import Origin, Rank, Setting, listed
from rlk.planning.parse import parse_plugin
from rlk.planning.select import select
from rlk.registry.kinds import SLOTS, STACKED
from rlk.settings import default_of


def with_own_defaults(draft: Draft) -> Draft:
    """With the settings whose default, in the algorithm's config, names or activates a plugin.

    They count more than the `Component.defaults`, whose slots they may fill otherwise, unless one
    of these is for the same setting.
    """
    component = draft.algorithm.component
    origin = Origin(f"algorithm {draft.algorithm.name}", Rank.CONFIG)
    fields = {} if component.config is None else attrs.fields_dict(component.config)
    for key in (*component.selects, *component.activates):
        if key not in fields or draft.layers.at(Rank.ALGORITHM, key).is_set:
            continue
        default = component.own_defaults.get(key, default_of(fields[key]))
        if default is not attrs.NOTHING and _is_on(Setting(default, origin)):
            draft = draft.with_settings({key: default}, origin)
    return draft


def with_plugins_of_settings(draft: Draft) -> Draft:
    """With the plugins that settings name (`selects`) or activate (`activates`)."""
    component = draft.algorithm.component
    for kind in dict.fromkeys(component.selects.values()):
        draft = _with_selected(draft, kind)
    for key, plugin in component.activates.items():
        draft = _with_switch(draft, key, plugin)
    return draft


def _with_selected(draft: Draft, kind: str) -> Draft:
    """With the plugins of one kind that settings name.

    `action_noise="normal-noise:sigma=0.1"` means `--plugin normal-noise:sigma=0.1`.

    Raises:
        PlanError: if a value is not a name, or not the name of a plugin of this kind.
    """
    selects = draft.algorithm.component.selects
    found = {key: draft.layers.find(key) for key in selects if selects[key] == kind}
    settings = {key: one for key, one in found.items() if not _is_none(one.value)}
    counting = [one for one in found.values() if one.is_demand or not _is_none(one.value)]
    highest = max((setting.rank for setting in counting), default=Rank.DEFAULT)
    for key, setting in settings.items():
        plugin = _as_text(setting.value)
        if not isinstance(plugin, str):
            raise _no_name(draft, key, kind, plugin)
        name, _ = parse_plugin(plugin)
        # What a saved plan names is among its components, or gone, also if it is not installed.
        is_missing = setting.rank == Rank.SAVED and name not in draft.registries
        if is_missing or draft.keeps_out(name, setting.rank):
            continue
        draft.registries[kind].get(name)  # an error names the kind that was expected
        draft = draft.with_plugins([plugin], setting.origin)
        draft = _beside_stronger(draft, kind, name, setting, highest)
    return draft


def _beside_stronger(draft: Draft, kind: str, name: str, setting: Setting, highest: Rank) -> Draft:
    """With a component beside those that stronger settings name, if a slot holds several.

    A preset's `action_noise` and a user's `param_noise` do not conflict: both are used. But only
    the setting of the highest rank counts in the slot `noise`, so the weaker one is added there,
    unless the slot is to be empty.
    """
    if setting.rank < highest:
        for slot in STACKED:
            stronger = draft.layers.at(highest, slot)
            is_emptied = stronger.is_set and not listed(stronger.value)
            if SLOTS[slot] == kind and not is_emptied:
                draft = draft.with_settings({slot: name}, setting.origin, highest)
    return draft


def settled(draft: Draft) -> Draft:
    """With the settings that name or activate plugins as the plugins of the run are.

    This comes last, once every plugin is known. A plugin that is not in the run, because another
    took its slot or the user left it out, is no longer named or activated: whoever made the run
    again from all of its settings would put it in.
    """
    draft = _with_emptied_slots(draft)
    component, own_name = draft.algorithm.component, draft.registries.own_name
    there = {choice.name for choice in select(draft)}
    for key in (*component.selects, *component.activates):
        setting = draft.layers.find(key)
        if not _is_on(setting):
            continue
        plugin = component.activates.get(key) or parse_plugin(_as_text(setting.value))[0]
        if own_name(plugin) not in there:
            off = False if setting.value is True else None
            draft = draft.with_settings({key: off}, Origin(f"without {plugin}", Rank.DERIVED))
    return draft


def _with_emptied_slots(draft: Draft) -> Draft:
    """With the slots of `STACKED` as settings that name no plugin leave them.

    A user's or a file's `action_noise=None` empties the slot `noise` of what presets and others of
    lower rank have put there. A noise that was asked for with the same rank or a higher one stays.
    """
    for key, kind in draft.algorithm.component.selects.items():
        setting = draft.layers.find(key)
        for slot in (one for one in STACKED if SLOTS[one] == kind):
            is_stronger = setting.is_demand and draft.layers.find(slot).rank < setting.rank
            if is_stronger and _is_none(setting.value):
                draft = draft.with_settings({slot: ()}, setting.origin)
    return draft


def _with_switch(draft: Draft, key: str, plugin: str) -> Draft:
    """With the plugin that a setting activates, or the setting that a plugin activates.

    `prioritized_replay=True`, or any value but False and None, puts the plugin in. A plugin
    that is in the run sets it to True, also one that was False with a lower rank.

    Raises:
        PlanError: if it was False with the plugin's rank or a higher one, or if the user asks for
            what `no:PLUGIN` leaves out.
    """
    switch = draft.layers.find(key)
    is_on = _is_on(switch)
    if is_on and switch.rank == Rank.DERIVED:
        return draft  # it was set below, because the plugin is in the run already
    if is_on and plugin in draft.left_out and switch.rank == Rank.USER:
        both = f"{key}={switch.value!r:.80} ({switch.origin}) and no:{plugin}"
        raise PlanError(
            f"{both} contradict each other. Leave out one of them, or ask for --plugin {plugin}."
        )
    if is_on:
        return draft.with_plugins([plugin], switch.origin)
    in_run = next((choice for choice in select(draft) if choice.name == plugin), None)
    if in_run is None:
        return draft
    if switch.value is not False or draft.rank_of(in_run) > switch.rank:
        return draft.with_settings({key: True}, in_run.origin, Rank.DERIVED)
    may_go = plugin in draft.plugins or in_run.slot in STACKED
    other = f"--plugin no:{plugin}" if may_go else f"another {in_run.slot}"
    raise PlanError(
        f"{key}=false ({switch.origin}) and plugin {plugin!r} ({in_run.origin}) contradict each "
        f"other. Use --set {key}=true, or {other}."
    )


def _no_name(draft: Draft, key: str, kind: str, value: Any) -> PlanError:
    """The error for a setting that is to name a plugin, and does not."""
    names = ", ".join(sorted(entry.name for entry in draft.registries[kind])[:5])
    return PlanError(
        f"{draft.algorithm.title}: {key} names one of the {kind} ({names}), with settings if you "
        f"like (NAME:key=value,…), got {value!r:.80}. See: rlk plugins list --kind {kind}"
    )


def _is_on(switch: Setting) -> bool:
    """Whether a setting puts in the plugin that it activates."""
    return switch.value is not False and not _is_none(switch.value)


def _is_none(plugin: Any) -> bool:
    """Whether no plugin is named; the test is safe for objects with their own comparison."""
    return plugin is None or (isinstance(plugin, str) and plugin == "none")


def _as_text(plugin: Any) -> Any:
    """A plugin as the text that a user would type, if it is an object for one (`HeldByFiles`)."""
    return plugin.as_setting() if hasattr(plugin, "as_setting") else plugin
