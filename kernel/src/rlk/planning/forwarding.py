"""Settings of the algorithm that are settings of other components as well (`Component.forwards`).

`buffer_size` of an algorithm, `replay.size` and `storage.size` are keys of one setting. The value
that has the highest rank under any of them counts, and is put under all of them:

    what is set                                               the size of the replay
    nothing                                                   what the algorithm's config has
    `buffer_size=7` by the user                               7
    `buffer_size=7` by a preset, `replay.size=8` by the user  8
    `buffer_size=7` and `replay.size=8` by the user           none: that is refused
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.configure import configured
from rlk.planning.layers import Rank, Setting, SettingLayers


def with_forwarded(
    layers: SettingLayers, algorithm: Choice, choices: Iterable[Choice]
) -> SettingLayers:
    """With one value under all keys of each setting that the algorithm and a component share.

    Several settings of the algorithm may be names of one. The first has its default, and None under
    one of the names leaves it to the others.

    Args:
        layers: all settings.
        algorithm: of the run.
        choices: the components of the run; what is not among them is passed over.

    Raises:
        PlanError: if two values of the highest rank differ.
    """
    in_run = {choice.name: choice for choice in choices}
    defaults = configured(algorithm, layers).config
    result = layers
    for target, names in _names_by_target(algorithm).items():
        component, _, setting = target.partition(".")
        if component not in in_run:
            continue
        speaking = [name for name in names if not _says_nothing(name, names, layers, algorithm)]
        keys = (*speaking, *_keys_of(in_run[component], setting))
        given = {key: layers.find(key) for key in keys if layers.find(key).is_set}
        if given:
            result = _with_derived(result, (*names, target), agreed(given))
        elif speaking:
            by = f"{algorithm.name} {names[0]}"
            default = Setting(getattr(defaults, names[0]), by, Rank.DERIVED)
            result = _with_derived(result, (target,), default)
    return result


def _names_by_target(algorithm: Choice) -> dict[str, list[str]]:
    """Each setting of another component, with its names among the algorithm's own settings."""
    found: dict[str, list[str]] = {}
    for name, target in algorithm.component.forwarded():
        found.setdefault(target, []).append(name)
    return found


def _keys_of(choice: Choice, setting: str) -> list[str]:
    """The keys of a component's setting: below its name, its alias and its slot."""
    owners = filter(None, (choice.name, choice.alias, choice.slot))
    return [f"{owner}.{setting}" for owner in owners]


def _says_nothing(name: str, names: list[str], layers: SettingLayers, algorithm: Choice) -> bool:
    """Whether what the algorithm has under one of the names is no value for the component."""
    setting = layers.find(name)
    if name in algorithm.component.activates:
        return setting.value is True  # which only puts the component in
    return len(names) > 1 and setting.is_set and setting.value is None


def _with_derived(layers: SettingLayers, keys: Iterable[str], setting: Setting) -> SettingLayers:
    """With this value under all keys, but those whose value is derived from something else.

    A name may be forwarded to several targets, of which the first counts, and a switch is True by
    the plugin that is in the run.
    """
    for key in keys:
        if not layers.at(Rank.DERIVED, key).is_set:
            layers = layers.with_setting(key, setting.value, setting.by, Rank.DERIVED)
    return layers


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
