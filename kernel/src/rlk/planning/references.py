"""What is wrong with a component's record: names that do not exist, fields of another kind."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, UnknownName, nearest
from rlk.planning.instead import from_record
from rlk.planning.parse import parse_plugin
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.entry import Entry
from rlk.registry.external import is_code_place
from rlk.registry.kinds import SLOTS, is_group_slot
from rlk.registry.registries import Registries

#: The fields of a record that concern components of one kind alone.
_OF_ONE_KIND = {
    "deterministic": "algorithms",
    "steps_nothing": "collectors",
    "stages": "storages",
    "wraps": "wrappers",
    "keeps_returns": "wrappers",
    "adapts": "wrappers",
    "makes_only_vectors": "vec_envs",
    "perturbs_policy": "noises",
}


def wrong_references(component: Component, kind: str, registries: Registries) -> Iterator[str]:
    """What is wrong with the record of a component of that kind, a sentence each."""
    yield from _fields_of_others(component, kind)
    own = settings.names(component.config)
    if kind in ("algorithms", "recipes"):  # these are typed without their names before settings
        for key in {*own} & {*RUN_KEYS, *SLOTS, "plugins"}:
            yield f"its setting {key!r} is a word of every run, and could not be set. Rename it"
    for field in ("own_defaults", "forwards", "activates", "selects"):
        for key in getattr(component, field):
            if key not in own:
                yield f"{field}: {UnknownName('setting of its own', key, own)}"
    for word in component.instead_of:
        found = from_record(component, word, None, {})
        for key in found if isinstance(found, dict) else ():
            if key not in own:
                yield f"instead_of {word!r}: {UnknownName('setting of its own', key, own)}"
    if component.defaults and kind != "algorithms":
        yield "a run takes only the defaults of its algorithm. Propose settings in rlk_configure"
    for key, value in component.defaults.items():
        for name in value.values() if isinstance(value, Mapping) else [value]:
            problem = _wrong_default(key, name, component, registries)
            if problem:
                yield f"the default {key}={name!r}: {problem}"
    for key, target in component.forwarded():
        if problem := _wrong_target(target, registries):
            yield f"{key} is forwarded to {target}: {problem}"
    for key, name in component.activates.items():
        if problem := _misspelt(name, registries):
            yield f"{key} activates {name!r}: {problem}"
    kinds = [registry.kind for registry in registries]
    for key, selected in component.selects.items():
        if selected not in kinds:
            yield f"{key} selects one of {selected!r}: {UnknownName('kind', selected, kinds)}"


def _fields_of_others(component: Component, kind: str) -> Iterator[str]:
    """The fields that concern components of another kind: no run would look at them."""
    fields = attrs.fields_dict(Component)
    for name, concerned in _OF_ONE_KIND.items():
        value = getattr(component, name)
        if kind != concerned and value != fields[name].default:
            yield f"{name}={value!r:.80} is for {concerned}, and this is one of the {kind}"


def _wrong_default(
    key: str, value: Any, component: Component, registries: Registries
) -> str | None:
    """What is wrong with a default, or None. A run that uses the default would be refused."""
    head, dot, setting = key.partition(".")
    kind = "optimisers" if is_group_slot(head) else SLOTS.get(head)
    if dot and head == "env":
        return None  # a keyword of the environment
    if dot:
        name = str(component.defaults.get(head, head))
        problem = None if head in SLOTS else _misspelt(name, registries)
        return problem or _wrong_setting(name, setting, kind, registries)
    try:
        if kind and isinstance(value, str) and not is_code_place(value):
            registries[kind].get(value)
        elif key == "plugins":
            for plugin in value:
                registries.find(parse_plugin(plugin)[0])
        elif not kind and key not in (*RUN_KEYS, *settings.names(component.config)):
            return str(UnknownName("setting", key, [*RUN_KEYS, *SLOTS]))
    except BrokenPlugin:  # several packages give that name, which is not this component's fault
        return None
    except PlanError as error:
        return str(error)
    return None


def _wrong_target(target: str, registries: Registries) -> str | None:
    """What is wrong with the setting that another is forwarded to, or None."""
    name, _, setting = target.partition(".")
    if name not in SLOTS:
        return _misspelt(name, registries) or _wrong_setting(name, setting, None, registries)
    known = [one for found in _settings(registries[SLOTS[name]]) for one in found]
    return None if setting in known else str(UnknownName(f"setting of any {name}:", setting, known))


def _wrong_setting(name: str, setting: str, kind: str | None, registries: Registries) -> str | None:
    """An error if the installed component has no such setting, or None.

    If several packages give the name, which is reported by itself, one of them has to have it.
    """
    named = [entry for registry in registries for entry in registry.named(name)]
    found = list(_settings(entry for entry in named if kind in (None, entry.kind)))
    if not found or any(setting in names for names in found):
        return None
    return str(UnknownName(f"setting of {name!r}:", setting, found[0]))


def _settings(entries: Iterable[Entry]) -> Iterator[list[str]]:
    """The names of the settings of each component, without broken ones: they are reported."""
    for entry in entries:
        with contextlib.suppress(BrokenPlugin):
            yield settings.names(entry.component().config)


def _misspelt(name: str, registries: Registries) -> str | None:
    """Why a name may be misspelt, or None.

    A component that it names need not be installed, so it is only wrong if another name is about as
    long and shares most of its letters.
    """
    names = [entry.name for entry in registries.every_entry()]
    alike = [one for one in names if abs(len(one) - len(name)) <= 2]
    near = [] if name in names else nearest(name, alike)
    return f"{name!r} is not installed. Did you mean {near[0]!r}?" if near else None
