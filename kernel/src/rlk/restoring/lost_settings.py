"""Settings that a saved plan cannot restore: functions, files to write to, and code.

No file can hold a function, and no file may choose which files are written or which code is run.
All of these must be passed again, unless they are a component's own default. If a function is part
of the network (an activation), the agent cannot be built without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.errors import PlanError
from rlk.registry.external import is_place
from rlk.registry.registries import Registries
from rlk.restoring.saved_records import SavedComponent

#: The slots whose functions the network is made with.
COMPUTING = ("policy", "distribution")


@attrs.frozen
class LostSettings:
    """Settings of a saved plan by dotted key, and for each lost one what it was."""

    kept: dict[str, Any]
    was: dict[str, str]
    values: dict[str, Any]  #: the lost ones, as the file has them
    #: Those that the network is made with, and every key that each may be given by.
    computing: dict[str, tuple[str, ...]] = attrs.field(factory=dict)
    own: str = ""  #: the prefix that a setting of the algorithm may be given with, `dqn.`

    def sentences(self, given_now: Mapping[str, Any]) -> tuple[str, ...]:
        """A sentence on what to pass again, for each lost setting that is not given now."""
        missing = self.missing(given_now)
        return tuple(
            f"{key} was {was}, and has its default now. Pass it again to train on with it: {key}=…"
            for key, was in self.was.items()
            if key in missing
        )

    def missing(self, given_now: Mapping[str, Any]) -> dict[str, Any]:
        """The lost settings that are not given now, as the file has them."""
        known = {*given_now, *self.computing, *(key.removeprefix(self.own) for key in given_now)}
        return {key: value for key, value in self.values.items() if key not in known}

    def refuse_missing_functions(self, given_now: Mapping[str, Any]) -> None:
        """PlanError unless the functions that the network is made with are given now."""
        for key, keys in self.computing.items():
            if not any(one in given_now for one in keys):
                raise PlanError(
                    f"{key} was {self.was[key]}, and the network was made with it. Pass it again: "
                    f"in Python, rlk.load(…, **{{{keys[0]!r}: …}})"
                )

    def refuse_missing(self, given_now: Mapping[str, Any]) -> None:
        """PlanError unless every lost setting is given now, for a run that is resumed."""
        missing = self.missing(given_now)
        if missing:
            lines = [f"{key} was {self.was[key]}." for key in missing]
            typed = " ".join(f"--set {key}=…" for key in missing)
            raise PlanError("\n".join([*lines, f"Pass it again: {typed}"]))


def lost_settings(
    given: Mapping[str, Any], components: Iterable[SavedComponent], registries: Registries
) -> LostSettings:
    """The settings that a file can hold, and descriptions of the others.

    Args:
        given: the settings of a saved plan, by dotted key.
        components: whose settings they are.
        registries: where the components' configs are found.
    """
    components = list(components)
    written = set(_marked("written", components, registries))
    environments = set(_marked("environment", components, registries))
    reasons = {
        key: _why_lost(value, key in written, key in environments) for key, value in given.items()
    }
    was = {key: reason for key, reason in reasons.items() if reason is not None}
    kept = {key: value for key, value in given.items() if key not in was}
    computing = {
        key: _keys(one, key)
        for one in components
        for key in was
        if one.slot in COMPUTING and key.startswith(one.prefix)
    }
    # A setting of the algorithm is given by its name alone: `learning_rate`, not `dqn.…`.
    own = next((one.prefix for one in components if one.slot == "algorithm"), "")
    return LostSettings(
        kept,
        {key.removeprefix(own): text for key, text in was.items()},
        {key.removeprefix(own): given[key] for key in was},
        computing,
        own,
    )


def _why_lost(value: Any, is_written: bool, is_environment: bool) -> str | None:
    """What a setting was that no file can restore; None for any other."""
    if settings.was_callable(value):
        return f"the callable {value['callable']}, which no file holds"
    if is_written and value is not None:
        return f"{value!r:.200}, a file to write to, which no file may choose"
    if is_environment and any(map(is_place, texts_in(value))):
        return f"{value!r:.200}, which is code that no file may run by itself"
    return None


def _keys(saved: SavedComponent, key: str) -> tuple[str, ...]:
    """The keys by which a setting of a component in a slot may be given."""
    return f"{saved.slot}.{key.removeprefix(saved.prefix)}", key


def texts_in(value: Any) -> Iterator[str]:
    """Every text in a setting, and in its lists and tables."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (Mapping, list, tuple)):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from texts_in(one)


def marked_fields(config: type | None, mark: str) -> list[str]:
    """The settings with this mark in their metadata.

    `written` marks names of files to write to, `environment` marks environments.
    """
    fields = () if config is None else attrs.fields(config)
    return [field.name for field in fields if field.metadata.get(mark)]


def chosen_fields(config: type | None, mark: str, values: Mapping[str, Any]) -> list[str]:
    """The settings with this mark whose values, as files have them, are not the config's own."""
    marked = marked_fields(config, mark)
    return [name for name in marked if not _is_own_default(config, name, values.get(name))]


def _is_own_default(config: type | None, name: str, value: Any) -> bool:
    assert config is not None
    default = settings.default_of(getattr(attrs.fields(config), name))
    return default is not attrs.NOTHING and bool(settings.plain_setting(default) == value)


def _marked(
    mark: str, components: Iterable[SavedComponent], registries: Registries
) -> Iterator[str]:
    """The dotted keys of the settings with this mark that are not their component's own default."""
    for saved in components:
        entry = None if saved.is_external else saved.entry(registries)
        config = entry.component().config if entry else None
        for name in chosen_fields(config, mark, saved.settings):
            yield f"{saved.prefix}{name}"
