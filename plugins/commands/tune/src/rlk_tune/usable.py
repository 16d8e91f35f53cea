"""Finds the values of a search space that planning accepts, before any trial.

A value is first tested alone. A value that is refused alone may be accepted together with values of
other settings: a `batch_size` of 256 with a large enough `n_steps`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping
from typing import Any

from rlk.errors import PlanError, UnknownName
from rlk_tune.ranges import Choice, Interval, Range
from rlk_tune.spaces import Ranges

#: A value that is refused alone is tried with this many random draws of the other settings.
TRIES = 20
Plan = Callable[[Mapping[str, Any]], object]


def usable(space: Ranges, typed: Collection[str], plan: Plan) -> tuple[Ranges, list[str]]:
    """The usable part of a search space, and a note for every part that is not.

    Args:
        space: the ranges.
        typed: the names of the ranges that the user typed; all of their values must be usable.
        plan: plans a run with these settings; a PlanError means that they are refused.

    Raises:
        PlanError: if a value of a typed range is refused; names the first one.
        UnknownName: if there is no setting of the name of a typed range.
    """
    for name in typed:
        _refuse_unknown(name, space[name], plan)
    reasons = _refused(space, plan)
    kept, notes = dict(space), list[str]()
    for name, range_ in space.items():
        refused = {drawn: why for (other, drawn), why in reasons.items() if other == name}
        if not refused:
            continue
        if name in typed:
            value, why = next(iter(refused.items()))
            whole = _whole(name, range_, value)
            raise PlanError(f"--search {name}={range_}: {value} cannot be used.{whole}\n{why}")
        left, note = left_out(name, range_, refused)
        notes.append(note)
        del kept[name]
        kept |= {} if left is None else {name: left}
    return kept, notes


def left_out(name: str, range_: Range, refused: Mapping[Any, str]) -> tuple[Range | None, str]:
    """What is left of a range, and a note on what is not searched.

    Nothing is left of an interval, which is not cut, nor of a choice between fewer than two values.

    Args:
        name: of the setting.
        range_: the range.
        refused: drawn value -> why it is refused; at least one.
    """
    texts = range_.texts if isinstance(range_, Choice) else ()
    kept = tuple(text for text in texts if text not in refused)
    left = Choice(kept) if len(kept) > 1 else None
    missing = ",".join(refused) if left else str(range_)
    why = next(iter(refused.values())).splitlines()[0]
    return left, f"not searched: {name}={missing} ({why})"


def _refuse_unknown(name: str, range_: Range, plan: Plan) -> None:
    """UnknownName for a setting that does not exist: none of its values is to blame."""
    try:
        plan({name: range_.value(range_.probes()[0])})
    except PlanError as error:
        if isinstance(error, UnknownName) and error.name in (name, name.rpartition(".")[2]):
            raise


def _refused(space: Ranges, plan: Plan) -> dict[tuple[str, Any], str]:
    """(setting, drawn value) -> why it is refused alone, unless other settings make it usable."""
    alone = {
        (name, drawn): _why_not(plan, {name: range_.value(drawn)})
        for name, range_ in space.items()
        for drawn in range_.probes()
    }
    sound: dict[str, list[Any]] = {}
    for (name, drawn), why in alone.items():
        if why is None:
            sound.setdefault(name, []).append(space[name].value(drawn))
    generator = random.Random(0)
    refused = {}
    for (name, drawn), why in alone.items():
        if why is not None:
            others = (
                {other: generator.choice(values) for other, values in sound.items()}
                for _ in range(TRIES)
            )
            value = space[name].value(drawn)
            if all(_why_not(plan, {**settings, name: value}) for settings in others):
                refused[name, drawn] = why
    return refused


def _why_not(plan: Plan, settings: Mapping[str, Any]) -> str | None:
    try:
        plan(settings)
    except PlanError as error:
        return str(error)
    return None


def _whole(name: str, range_: Range, value: Any) -> str:
    """What else to type: for whole numbers if 1e3, between bounds, is refused; for a range."""
    if isinstance(value, str) and ":" in value:
        return " A range is LOW:HIGH or log:LOW:HIGH."
    if not isinstance(range_, Interval) or value in (range_.low, range_.high):
        return ""
    whole = range_.of_whole_numbers()
    return "" if whole is None else f" For whole numbers, type --search {name}={whole}."
