"""The environment of a saved plan; if it was an object or code, the user passes it again.

A name of code is never imported, not even to see whether it is the same; `code_in` only looks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from rlk.command_line import can_be_pasted, command_line
from rlk.errors import PlanError
from rlk.plain_values import object_in
from rlk.planning.environment import EnvChoice, choose_environment
from rlk.planning.parse import typed_value
from rlk.planning.saved_keywords import with_tuples
from rlk.registry.external import is_code_place
from rlk.registry.registries import Registries
from rlk.restoring.named_code import code_in
from rlk.restoring.saved_records import SavedEnvironment


def restore_environment(
    saved: SavedEnvironment, env: Any, changes: Mapping[str, Any], registries: Registries
) -> dict[str, Any]:
    """The environment with its keywords: the saved one, or the one that is passed now.

    Args:
        saved: the one in the file.
        env: the one that is passed now, or None; an EnvChoice has its keywords.
        changes: settings that the user gives now, by dotted key.
        registries: where environments are found by their names.

    Raises:
        PlanError: if it was an object or code, or a keyword names code, and was not passed again.
    """
    keywords = with_tuples(saved.kwargs, saved.tuples)
    kwargs = {f"env.{key}": value for key, value in keywords.items() if key != "id"}
    if isinstance(env, EnvChoice):
        return {"env": env}
    if env is not None:
        keeps = choose_environment(env, registries, {}).takes_keywords_of(saved.name)
        found = {"env": env, **(kwargs if keeps else {})}
    elif saved.passed_as_object or code_place_of_saved(saved, registries) is not None:
        raise _environment_not_passed(saved)
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
            f"this model's environment was made with {lost!r:.200} in {key}, an object, which no "
            f"file holds. Pass it again: in Python, rlk.load(…, settings={{{key!r}: …}})."
        )
    code = code_in(value)
    if code is not None:
        raise PlanError(
            f"this model's environment was made with {key}={value!r:.200}, where {code!r} "
            "names code, which no file may run by itself. Pass it again: "
            f"{typed('--set', f'{key}={typed_value(value)}')}, or in Python "
            f"rlk.load(…, settings={{{key!r}: {value!r:.200}}})."
        )


def _environment_not_passed(saved: SavedEnvironment) -> PlanError:
    if saved.passed_as_object:
        place = saved.again or "./your_file.py:Class"
        how = f"{typed('--env', place)}, or in Python env=…"
        is_id = re.search(r"-v\d+$", saved.name)
        alone = f" If it is what that id makes: {typed('--env', saved.name)}." if is_id else ""
        return PlanError(
            f"this model's environment {saved.name!r} was an object, which no file holds. "
            f"Pass it again: {how}.{alone}"
        )
    return PlanError(
        f"this model's environment {saved.name!r} was code, which no file may run by itself. "
        f"Pass it again: {typed('--env', saved.name)}, or in Python env={saved.name!r}."
    )


def code_place_of_saved(saved: SavedEnvironment | None, registries: Registries) -> str | None:
    """The place of a saved environment that is code, judged by its name or its source."""
    if saved is None or saved.passed_as_object:
        return None
    if is_code_place(saved.name):
        return saved.name
    entry, _ = registries.environments.ask("environment", saved.name)
    return saved.name if entry.component().runs_code else None


def typed(option: str, value: str) -> str:
    """An option that is safe to paste into a shell, whatever value the file has."""
    return command_line([option, value]) if can_be_pasted(value) else f"{option} …"
