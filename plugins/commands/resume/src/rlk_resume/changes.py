"""What changes where a run is continued with other settings: printed, and kept in a file."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, RlkError
from rlk.files import write_text
from rlk.planning.parse import typed_value
from rlk.restoring.saved_plan import as_json, plan_text
from rlk.restoring.saved_records import SavedPlan
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.planning.plan import Plan


def changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What differs between two plans, as in files: a text such as `gamma 0.99 to 0.9` for each.

    The last timestep is left out, as `schedules` is about it; so are components that join every
    run by themselves.
    """
    old, new = dict(_values(before)), dict(_values(now))
    keys = [*new, *(key for key in old if key not in new)]
    differing = [key for key in keys if old.get(key) != new.get(key)]
    return [
        f"{key} {typed_value(old.get(key))} to {typed_value(new.get(key))}" for key in differing
    ]


@contextlib.contextmanager
def naming_changes(before: Mapping[str, Any], plan: Plan) -> Iterator[None]:
    """While a state is restored: the error for one that does not fit names what was changed."""
    try:
        yield
    except BadFile as error:
        changes = changed(before, as_json(plan))
        if not changes:
            raise
        raise BadFile(f"{error}\nThis run changes {'; '.join(changes)}.") from error


def write_changed_plan(plan: Plan, timesteps: int, before: Mapping[str, Any]) -> None:
    """Write `plan-from-TIMESTEPS.json` beside plan.json, the plan of the start, if they differ.

    Such plans of later timesteps are deleted: they belong to a part that is trained anew.

    Args:
        plan: of the continued run; without a folder (another rank has it) nothing is written.
        timesteps: at which it continues.
        before: the plan until then, as in files.

    Raises:
        RlkError: if a file cannot be written or deleted.
    """
    if plan.out is None:
        return
    out, now = Path(plan.out), as_json(plan)
    path = out / f"plan-from-{timesteps}.json"
    try:
        for other in out.glob("plan-from-*.json"):
            number = other.stem.rpartition("-")[2]
            if number.isdecimal() and int(number) >= timesteps:
                other.unlink()
        if changed(before, now):
            write_text(path, plan_text(now))
    except OSError as error:
        raise RlkError(f"{path} cannot be written: {error.strerror}.") from None


def _values(plan: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every setting by the key that `--set` takes, every component by its slot."""
    saved = structured(SavedPlan, plan, "the plan")
    run = saved.run.given()
    yield from ((key, value) for key, value in run.items() if key != "total_timesteps")
    yield "env", saved.env.name
    yield from ((f"env.{key}", value) for key, value in saved.env.kwargs.items())
    for component in saved.components:
        if component.joined:
            continue
        name = component.name
        yield component.role if component.fills_slot else f"plugin {name}", name
        prefix = "" if component is saved.algorithm else component.prefix
        yield from ((f"{prefix}{key}", value) for key, value in component.settings.items())
