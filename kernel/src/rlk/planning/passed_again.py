"""What a saved plan must not bring by itself: objects and code, which the user passes again.

A file that names a module, a class or a file would have the one who loads it import whatever is
found under that name. So such a name is only compared with what is passed now.
"""

from __future__ import annotations

import importlib.util
import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from rlk.component import Component
from rlk.errors import PlanError
from rlk.planning.draft import leaves_out
from rlk.planning.environment import choose_environment
from rlk.planning.lost_settings import was_callable
from rlk.planning.parse import parse_plugin
from rlk.planning.saved_records import SavedComponent, SavedEnvironment
from rlk.registry.external import PASSED, find_entry, is_place
from rlk.registry.registries import Registries

_DOTTED = re.compile(r"([^\W\d]\w*)(\.[^\W\d]\w*)+(:[^\W\d][\w.]*)?")
_MODULE_AND_OBJECT = re.compile(r"([^\W\d]\w*):[^\W\d][\w.]*")


# ---- components ----------------------------------------------------------------------------------


def algorithm_again(
    saved: SavedComponent, plugins: tuple[Any, ...], registries: Registries
) -> tuple[Any, tuple[Any, ...]]:
    """The algorithm by its name, or what is passed for it now; and the plugins without that.

    Raises:
        PlanError: for one from a place or an object, that was not passed again.
    """
    if not saved.is_external:
        return saved.name, plugins
    for plugin in plugins:
        if _name(plugin, registries) == saved.name:
            return plugin, tuple(other for other in plugins if other is not plugin)
    raise _missing(saved)


def refuse_missing_components(
    components: Iterable[SavedComponent],
    plugins: Iterable[Any],
    changes: Mapping[str, Any],
    registries: Registries,
    environment: SavedEnvironment | None = None,
) -> None:
    """PlanError for components from a place, or objects, that were not passed again.

    Args:
        components: what the file holds.
        plugins, changes: what is passed now.
        registries: where plugins and environments are found by their names.
        environment: the saved one if none is passed now, so that the message has all that is
            missing.
    """
    wanted = [one for one in components if one.is_external and one.slot != "algorithm"]
    passed = {_name(plugin, registries) for plugin in plugins} if wanted else set()
    missing = [
        saved
        for saved in wanted
        if saved.slot not in changes and _without_number(saved) not in passed
    ]
    if missing:
        raise _missing(*missing, environment=_place_of_saved(environment, registries))


def _name(plugin: Any, registries: Registries) -> str | None:
    """What a plugin that is passed now is called in a plan; None for an installed one."""
    if not isinstance(plugin, str):
        component = getattr(plugin, "component", plugin)
        if isinstance(component, Component):
            return component.name
        return plugin.__name__ if isinstance(plugin, type) else type(plugin).__name__
    name, _ = parse_plugin(plugin)
    if leaves_out(plugin) or not is_place(name):
        return None
    return find_entry(name, None, registries).component().name


def _without_number(saved: SavedComponent) -> str:
    """Objects that implement hooks are numbered in a plan."""
    is_object = saved.dist == PASSED and saved.slot == "extension"
    return saved.name.rpartition("-")[0] if is_object else saved.name


def _missing(*missing: SavedComponent, environment: str | None = None) -> PlanError:
    """What is missing, and what to type for all of it at once.

    Args:
        missing: components, at least one.
        environment: the place of one that is code and is not passed either.
    """
    placed = [saved for saved in missing if saved.dist != PASSED]
    if not placed:
        saved = missing[0]
        keyword = f"{saved.slot}=…" if saved.fills_slot else "plugins=[…]"
        return PlanError(
            f"this model was made with {saved.slot} {saved.name!r}, which was passed as an object, "
            "which no file may run by itself. Pass it again: in Python, "
            f"{keyword} with that object."
        )
    was = [f"{saved.slot} {saved.name!r} from {saved.dist!r}" for saved in placed]
    places = list(dict.fromkeys(saved.dist for saved in placed))
    typed = [_typed("--plugin", place) for place in places]
    python = f"plugins={places!r}"
    if environment is not None:
        was.append(f"environment {environment!r}")
        typed.append(_typed("--env", environment))
        python += f", env={environment!r}"
    return PlanError(
        f"this model was made with {' and '.join(was)}, which no file may run by itself. Pass "
        f"{'it' if len(was) == 1 else 'them'} again: {' '.join(typed)}, or in Python {python}."
    )


# ---- the environment -----------------------------------------------------------------------------


def environment_again(
    saved: SavedEnvironment, env: Any, changes: Mapping[str, Any], registries: Registries
) -> dict[str, Any]:
    """The environment with its keywords: the saved one, or the one that is passed now.

    Args:
        saved: what the file holds.
        env: what is passed now, or None.
        changes: settings that the user gives now, by dotted key.
        registries: where environments are found by their names.

    Raises:
        PlanError: if it was an object or code, or a keyword names code, and was not passed again.
    """
    kwargs = {f"env.{key}": value for key, value in saved.kwargs.items() if key != "id"}
    if env is not None:
        keeps = choose_environment(env, registries, {}).takes_keywords_of(saved.name)
        found = {"env": env, **(kwargs if keeps else {})}
    elif saved.passed_as_object or _place_of_saved(saved, registries) is not None:
        raise _environment_missing(saved)
    else:
        found = {"env": saved.name, **kwargs}
    for key in kwargs:
        if key in found and key not in changes:
            _refuse_object_or_code(key, found[key])
    return found


def _refuse_object_or_code(key: str, value: Any) -> None:
    """PlanError for a saved keyword of the environment that is an object, or names code."""
    lost = object_in(value)
    if lost is not None:
        raise PlanError(
            f"this model's environment was made with {lost!r} in {key}, an object, which no "
            f"file holds. Pass it again: in Python, rlk.load(…, **{{{key!r}: …}})."
        )
    code = code_in(value)
    if code is not None:
        raise PlanError(
            f"this model's environment was made with {key}={value!r:.200}, where {code!r} "
            "names code, which no file may run by itself. Pass it again: "
            f"{_typed('--set', f'{key}={value}')}, or in Python "
            f"rlk.load(…, **{{{key!r}: {value!r:.200}}})."
        )


def _environment_missing(saved: SavedEnvironment) -> PlanError:
    if saved.passed_as_object:
        place = saved.again or "./your_file.py:Class"
        how = f"{_typed('--env', place)}, or in Python env=…"
        is_id = re.search(r"-v\d+$", saved.name)
        alone = f" If it is what that id makes: {_typed('--env', saved.name)}." if is_id else ""
        return PlanError(
            f"this model's environment {saved.name!r} was an object, which no file holds. "
            f"Pass it again: {how}.{alone}"
        )
    return PlanError(
        f"this model's environment {saved.name!r} was code, which no file may run by itself. "
        f"Pass it again: {_typed('--env', saved.name)}, or in Python env={saved.name!r}."
    )


def _place_of_saved(saved: SavedEnvironment | None, registries: Registries) -> str | None:
    """The place of a saved environment that is code, by its name or by who answers to it."""
    if saved is None or saved.passed_as_object:
        return None
    if is_place(saved.name):
        return saved.name
    entry, _ = registries.environments.ask("environment", saved.name)
    return saved.name if entry.component().runs_code else None


def object_in(value: Any) -> str | None:
    """The name of the first object in a saved keyword, which stood there and no file holds."""
    if was_callable(value):
        return str(value["callable"])
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (Mapping, list)):
        return next((found for item in inner if (found := object_in(item))), None)
    return None


def code_in(value: Any) -> str | None:
    """The first text in a keyword that names code which can be imported here, or a Python file.

    Some environments import what a keyword names (`vehicle="highway_env.vehicle.Car"`).
    """
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := code_in(item))), None)
    return value if isinstance(value, str) and _names_code(value) else None


def _names_code(text: str) -> bool:
    if text.endswith((".py", ".so", ".pyd", ".pkl", ".pickle")):
        return True
    dotted = _DOTTED.fullmatch(text) or _MODULE_AND_OBJECT.fullmatch(text)
    if dotted is None:
        return False
    try:
        return importlib.util.find_spec(dotted[1]) is not None  # the package: imports nothing
    except (ImportError, ValueError):
        return True


# ---- what to type --------------------------------------------------------------------------------


def _typed(option: str, value: str) -> str:
    """An option as it can be pasted into a shell, whatever the file has for a value."""
    return f"{option} {shlex.quote(value)}" if value.isprintable() else f"{option} …"
