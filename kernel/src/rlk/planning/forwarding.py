"""Settings of the algorithm that are also settings of other components (`Component.forwards`).

A target names a component (`rmsprop.alpha`), or a slot for whatever fills it: `storage.buffer_size`
is a setting of every storage of the run that has one of that name.

`buffer_size` of an algorithm, `replay.buffer_size` and `storage.buffer_size` are keys of one
setting. The value with the highest rank under any of them counts, and is put under all of them:

    what is set                                                      the size of the replay
    nothing                                                          as in the algorithm's config
    `buffer_size=7` by the user                                      7
    `buffer_size=7` by a preset, `replay.buffer_size=8` by the user  8
    `buffer_size=7` and `replay.buffer_size=8` by the user           refused
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import attrs

from rlk import settings
from rlk.planning.choice import Choice
from rlk.planning.configure import configured
from rlk.planning.layers import Origin, Rank, Setting, SettingLayers, one_setting_twice


@attrs.frozen
class _Shared:
    """One setting that the algorithm and other components of the run have."""

    names: list[str]  #: the algorithm's names for it, `buffer_size`; the first has the default
    targets: list[str]  #: its keys below the components' own names, `replay.buffer_size`
    keys: list[str]  #: the targets, and the keys below the components' aliases and their slot


def with_forwarded(
    layers: SettingLayers, algorithm: Choice, choices: Iterable[Choice]
) -> SettingLayers:
    """With one value under all keys of each setting that the algorithm and a component share.

    Targets in components that are not in the run are skipped.

    Raises:
        PlanError: if two values of the highest rank differ.
    """
    config = configured(algorithm, layers).config
    result = layers
    for shared in _shared_settings(algorithm, choices):
        names = [name for name in shared.names if _says_a_value(name, shared, layers, algorithm)]
        given = {key: layers.find(key) for key in (*names, *shared.keys)}
        given = {key: setting for key, setting in given.items() if setting.is_set}
        if given:
            result = _with_derived(result, (*shared.names, *shared.targets), agreed(given))
        elif names:  # not set under any key: the component gets the algorithm's default
            first = shared.names[0]
            origin = Origin(f"{algorithm.name} {first}", Rank.DERIVED)
            default = Setting(getattr(config, first), origin)
            result = _with_derived(result, shared.targets, default)
    return result


def _shared_settings(algorithm: Choice, choices: Iterable[Choice]) -> Iterator[_Shared]:
    """The settings that the algorithm forwards to those components, each with all its names."""
    choices = tuple(choices)
    names: dict[str, list[str]] = {}
    for name, target in algorithm.component.forwarded():
        names.setdefault(target, []).append(name)
    for target, found in names.items():
        setting, taking = target.partition(".")[2], takers(target, choices)
        owners = [owner for one in taking for owner in (one.name, one.alias, one.slot) if owner]
        keys = [f"{owner}.{setting}" for owner in owners]
        if taking:
            targets = [f"{choice.name}.{setting}" for choice in taking]
            yield _Shared(found, targets, list(dict.fromkeys(keys)))


def takers(target: str, choices: Iterable[Choice]) -> list[Choice]:
    """The components that take a forwarded setting: the one of that name, or all in that slot."""
    owner, _, setting = target.partition(".")
    return [
        choice
        for choice in choices
        if owner == choice.name
        or (owner == choice.slot and setting in settings.names(choice.component.config))
    ]


def _says_a_value(name: str, shared: _Shared, layers: SettingLayers, algorithm: Choice) -> bool:
    """Whether the algorithm's setting of that name is a value for the component.

    A switch that is True only puts the component in. With several names, one that is set to None
    leaves the value to the others.
    """
    setting = layers.find(name)
    if name in algorithm.component.activates:
        return setting.value is not True
    return len(shared.names) == 1 or not setting.is_set or setting.value is not None


def _with_derived(layers: SettingLayers, keys: Iterable[str], setting: Setting) -> SettingLayers:
    """With this value under all keys, except those whose value is derived from something else.

    A name may be forwarded to several targets, of which the first counts, and the plugin in the run
    sets a switch to True.
    """
    for key in keys:
        if not layers.at(Rank.DERIVED, key).is_set:
            layers = layers.with_setting(key, setting.value, setting.origin, Rank.DERIVED)
    return layers


def agreed(found: Mapping[str, Setting]) -> Setting:
    """The value with the highest rank of one setting under several keys.

    Raises:
        PlanError: if two values of that rank differ.
    """
    rank = max(setting.rank for setting in found.values())
    highest = {key: setting for key, setting in found.items() if setting.rank == rank}
    first = next(iter(highest.values()))
    for setting in highest.values():
        if setting.value != first.value:
            raise one_setting_twice(first, setting)
    return first
