"""Settings that a saved plan cannot restore: functions, files to write to, and code.

No file can hold a function, and no file may choose which files are written or which code is run.
All of these must be passed again, unless they are a component's own default. If a function is part
of the network (an activation), the agent cannot be built without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from rlk import settings
from rlk.errors import PlanError
from rlk.plain_values import object_in, plain_setting, was_callable
from rlk.registry.registries import Registries
from rlk.restoring.given_now import GivenNow
from rlk.restoring.named_code import environment_names_code
from rlk.restoring.saved_records import SavedComponent

#: The slots whose functions the network is made with.
COMPUTING = ("policy", "distribution")


@attrs.frozen
class LostSetting:
    """A setting of a saved plan that no file restores."""

    key: str
    typed: str  #: the key to type, by which it may be given as well: `learning_rate`, not `dqn.…`
    value: Any  #: as the file has it
    was: str  #: what it was, and why no file restores it
    computes: bool  #: whether the network is made with it

    def __str__(self) -> str:
        """What to pass again to train on as before."""
        return (
            f"{self.typed} was {self.was}, and has its default now. Pass it again to train on with "
            f"it: {self.typed}=…"
        )


def without_lost(
    of_file: Mapping[str, Any], components: Iterable[SavedComponent], now: GivenNow
) -> tuple[dict[str, Any], list[LostSetting]]:
    """Those of these components' settings that a file restores; and the lost ones not given now."""
    kept, missing = dict(of_file), []
    for saved in components:
        written = _chosen(saved, "written", now.registries)
        environments = _chosen(saved, "environment", now.registries)
        for name in saved.settings:
            key, typed = f"{saved.prefix}{name}", _typed(saved, name)
            value = kept.get(key)
            was = _why_lost(value, name in written, name in environments)
            if was is None:
                continue
            del kept[key]
            if not any(_is_given(one, value, now.settings) for one in (key, typed)):
                missing.append(LostSetting(key, typed, value, was, saved.role in COMPUTING))
    return kept, missing


def refuse_lost(lost: Sequence[LostSetting], *, resumes: bool) -> None:
    """PlanError for lost functions that the network is made with, and if it resumes, for any.

    Args:
        lost: the lost settings that are not given now.
        resumes: whether the saved run is resumed, exactly as it was.
    """
    for one in lost:
        if one.computes:
            raise PlanError(
                f"{one.key} was {one.was}, and the network was made with it. Pass it again: "
                f"in Python, rlk.load(…, settings={{{one.typed!r}: …}})"
            )
    if lost and resumes:
        lines = [f"{one.typed} was {one.was}." for one in lost]
        typed = " ".join(f"--set {one.typed}=…" for one in lost)
        raise PlanError("\n".join([*lines, f"Pass it again: {typed}"]))


def _is_given(key: str, value: Any, now: Mapping[str, Any]) -> bool:
    """Whether a setting is given now; a table, which has dotted keys there, if all of it is."""
    inner = value.items() if isinstance(value, Mapping) else ()
    return key in now or (bool(inner) and all(_is_given(f"{key}.{k}", v, now) for k, v in inner))


def _why_lost(value: Any, is_written: bool, is_environment: bool) -> str | None:
    """What a setting was that no file can restore; None for any other."""
    if was_callable(value):
        return f"the callable {value['callable']}, which no file holds"
    if (inner := object_in(value)) is not None:
        return f"a value with {inner!r:.200} in it, an object, which no file holds"
    if is_written and value is not None:
        return f"{value!r:.200}, a file to write to, which no file may choose"
    if is_environment and environment_names_code(value):
        return f"{value!r:.200}, which is code that no file may run by itself"
    return None


def _typed(saved: SavedComponent, name: str) -> str:
    """The key by which a user gives a setting of a component."""
    if saved.role == "algorithm":
        return name
    return f"{saved.role}.{name}" if saved.role in COMPUTING else f"{saved.prefix}{name}"


def marked_fields(config: type | None, mark: str) -> list[str]:
    """The settings with this mark in their metadata.

    `written` marks names of files to write to, `environment` marks environments and their keywords.
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
    return default is not attrs.NOTHING and bool(plain_setting(default) == value)


def _chosen(saved: SavedComponent, mark: str, registries: Registries) -> list[str]:
    """The settings of a component with this mark that are not its own default."""
    entry = None if saved.is_external else saved.entry(registries)
    config = entry.component().config if entry else None
    return chosen_fields(config, mark, saved.settings)
