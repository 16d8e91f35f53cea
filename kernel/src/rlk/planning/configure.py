"""From settings in layers to the config of every component."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from rlk import settings
from rlk.errors import PlanError, UnknownName
from rlk.planning.choice import Choice
from rlk.planning.layers import Rank, Setting, SettingLayers
from rlk.planning.run_settings import RUN_KEYS
from rlk.registry.kinds import SLOTS, STACKED
from rlk.registry.registries import Registries

#: Slots whose settings may belong to any of the components that are put together there.
SEVERAL = ("storage", *STACKED)


def configured(choice: Choice, layers: SettingLayers) -> Choice:
    """A component with the settings that were given under its name or its slot.

    Raises:
        PlanError: if its config does not take one of them.
    """
    given = _given(choice, layers)
    values = {**choice.component.own, **{key: setting.value for key, setting in given.items()}}
    others = (*RUN_KEYS, *layers.slots) if choice.slot == "algorithm" else ()
    hint = f"See: rlk plugins show {choice.alias}" if choice.version else ""
    config = settings.structure(choice.component.config, values, choice.title, others, hint)
    sources = {key: setting.by for key, setting in given.items()}
    return attrs.evolve(choice, config=config, sources=sources)


def _given(choice: Choice, layers: SettingLayers) -> dict[str, Setting]:
    """The settings that are meant for a component, by its own names for them.

    A key below a setting (`policy.net_arch.pi`) is one of the table that the setting takes.
    """
    known = settings.names(choice.component.config)
    given: dict[str, Setting] = {}
    for key, setting in layers:
        head, _, own = key.partition(".")
        by_name = head in (choice.name, choice.alias)
        # A setting of the slot `storage` may belong to any storage in the stack. What an algorithm
        # or a preset sets for the policy that it expects is no demand on another policy.
        is_demand = setting.rank >= Rank.FILE and choice.slot not in SEVERAL
        by_slot = head == choice.slot and (is_demand or own.partition(".")[0] in known)
        if not own or not (by_name or by_slot):
            continue
        whole, _, part = own.partition(".")
        if part and whole in known:
            given[whole] = _with_part(given.get(whole), part, setting)
        else:
            given[own] = setting
    return given


def _with_part(below: Setting | None, part: str, setting: Setting) -> Setting:
    """A table with one more key, on top of what a lower rank has set; what is no table is gone."""
    table = below.value if below is not None and isinstance(below.value, Mapping) else {}
    return attrs.evolve(setting, value={**table, part: setting.value})


def forwarded(layers: SettingLayers, algorithm: Choice, choices: Iterable[Choice]) -> SettingLayers:
    """With the settings of the algorithm that other components use, under all keys they have.

    `buffer_size` of an algorithm, `replay.size` and `storage.size` are one setting: the value of
    the highest rank counts, and two of that rank must agree. Several settings of the algorithm may
    be names of one: the first has its default, and None under one of the names leaves it to the
    others. True of a setting that also puts the component in (`Component.activates`) says no more
    than that.

    Raises:
        PlanError: if they do not agree.
    """
    others = {choice.name: (choice.alias, choice.slot) for choice in choices}
    usual = configured(algorithm, layers).config
    result = layers
    for target, keys in _by_target(algorithm).items():
        name, _, setting = target.partition(".")
        if name not in others:
            continue
        telling = [key for key in keys if not _says_nothing(key, layers, algorithm, len(keys) > 1)]
        elsewhere = (target, *(f"{other}.{setting}" for other in others[name]))
        found = _set_under(layers, (*telling, *elsewhere))
        if found:
            winner = agreed(found)
            for key in keys:
                if result.find(key).rank != Rank.FORWARDED:
                    result = result.set(key, winner.value, winner.by, Rank.FORWARDED)
            result = result.set(target, winner.value, winner.by, Rank.FORWARDED)
        elif telling:
            by = f"{algorithm.name} {keys[0]}"
            result = result.set(target, getattr(usual, keys[0]), by, Rank.FORWARDED)
    return result


def _by_target(algorithm: Choice) -> dict[str, list[str]]:
    """Each setting of another component, with those of the algorithm that have its value."""
    found: dict[str, list[str]] = {}
    for key, target in algorithm.component.forwarded():
        found.setdefault(target, []).append(key)
    return found


def _says_nothing(key: str, layers: SettingLayers, algorithm: Choice, is_one_of: bool) -> bool:
    """Whether the value of a setting of the algorithm is none for the component."""
    setting = layers.find(key)
    if key in algorithm.component.activates:
        return setting.value is True
    return is_one_of and setting.is_set and setting.value is None


def _set_under(layers: SettingLayers, keys: Iterable[str]) -> dict[str, Setting]:
    """Those of the keys that were set."""
    return {key: layers.find(key) for key in keys if layers.find(key).is_set}


def agreed(found: Mapping[str, Setting]) -> Setting:
    """Of one setting under several keys, that of the highest rank.

    Raises:
        PlanError: if two of that rank differ.
    """
    rank = max(setting.rank for setting in found.values())
    highest = {key: setting for key, setting in found.items() if setting.rank == rank}
    first = next(iter(highest.values()))
    if any(setting.value != first.value for setting in highest.values()):
        both = " and ".join(f"{key}={one.value!r} ({one.by})" for key, one in highest.items())
        raise PlanError(f"{both} are one setting with two values. Set one of them.")
    return first


def check_keys(
    layers: SettingLayers,
    parts: Mapping[str, Sequence[Choice]],
    registries: Registries,
    refused: Collection[str] = (),
) -> None:
    """Refuse a setting of what is not in the run, and one that no storage or noise there has.

    Settings of the components themselves were checked when these were configured.

    Args:
        layers: all settings.
        parts: the configured components by slot, or by kind where there may be many.
        registries: to tell a component that is not in the run from one that does not exist.
        refused: components that the user left out, with what a preset or a plugin set of them.

    Raises:
        PlanError: for the first such key.
    """
    choices = [choice for part in parts.values() for choice in part]
    names = [name for choice in choices for name in (choice.name, choice.alias)]
    known = {"env", *layers.slots, *names, *_distributions(layers)}
    for key, setting in layers:
        head, dot, own = key.partition(".")
        is_demand = setting.rank >= Rank.FILE
        # An algorithm has defaults for what may be put in.
        may_be_absent = setting.rank == Rank.ALGORITHM
        may_be_absent = may_be_absent or _is_replaced(head, setting, layers, registries)
        may_be_absent = may_be_absent or (head in refused and not is_demand)
        if dot and head not in known and not may_be_absent:
            about = f"In the setting {key!r} ({setting.by})."
            if head in refused:
                raise PlanError(
                    f"{head!r} was left out by no:{head}. {about} Leave out one of them."
                )
            if any(head in registry for registry in registries):
                raise PlanError(f"{head!r} is not in this run. {about} Add --plugin {head}")
            raise UnknownName("component in this run", head, known, about)
        if dot and head in SEVERAL and (is_demand or head == "storage"):
            configs = (choice.component.config for choice in parts[head])
            taken = {name for config in configs for name in settings.names(config)}
            if own not in taken:
                raise UnknownName(f"setting of this run's {SLOTS[head]}:", own, taken)


def _is_replaced(
    name: str, setting: Setting, layers: SettingLayers, registries: Registries
) -> bool:
    """Whether a component has given its slot of `STACKED` to others, of a higher rank than this."""
    slots = (slot for slot in STACKED if name in registries[SLOTS[slot]])
    return any(layers.find(slot).rank > setting.rank for slot in slots)


def _distributions(layers: SettingLayers) -> set[str]:
    """Every distribution that the run may use; which one it is depends on the action space."""
    wanted: Any = layers.find("distribution").value
    names = wanted.values() if isinstance(wanted, Mapping) else [wanted]
    return {str(name) for name in names if name is not None}
