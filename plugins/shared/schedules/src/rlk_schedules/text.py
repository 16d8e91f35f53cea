"""Schedules in the form that users and files write: text, or a list of endpoints."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

from rlk.errors import PlanError, either, nearest
from rlk.planning.parse import parse_plugin
from rlk.settings import structure
from rlk_schedules.shapes import (
    Constant,
    DoubleLinearCon,
    DoubleMiddleDrop,
    Linear,
    MiddleDrop,
    Piecewise,
    Schedule,
)

#: The group of entry points of shapes.
GROUP = "rlk_schedules"
#: This library's own, found without a search for entry points.
SHAPES: dict[str, type[Schedule]] = {
    shape.name: shape
    for shape in (Constant, Linear, MiddleDrop, DoubleLinearCon, DoubleMiddleDrop, Piecewise)
}
ALLOWED = (
    "a number, 'lin_0.001', another 'NAME_NUMBER' or 'NAME:key=value,…', a list of "
    "[part of the run, value], or a callable of what remains of the run"
)


def find_shape(name: str) -> type[Schedule]:
    """The shape with that name, of this library or of an installed distribution.

    Raises:
        ValueError: if there is none, with similar names; or if what is installed is broken.
    """
    if name in SHAPES or name == "lin":
        return SHAPES.get(name, Linear)
    points = {point.name: point for point in entry_points(group=GROUP)}
    if name in points:
        return _loaded(points[name])
    names = [*dict.fromkeys([*SHAPES, *points])]
    near = nearest(name, names)
    meant = f"Did you mean {either(near)}?" if near else f"Known: {', '.join(names)}."
    raise ValueError(f"there is no schedule {name!r}. {meant}")


def _loaded(point: EntryPoint) -> type[Schedule]:
    """The shape that an entry point names.

    Raises:
        ValueError: if it cannot be imported, is not a shape, or has another name than that of the
            entry point, by which files could not find it again.
    """
    title = f"schedule {point.name!r} ({point.dist.name if point.dist else point.value})"
    try:
        found = point.load()
    except Exception as error:  # whatever the module raises
        raise ValueError(f"{title} is broken: {type(error).__name__}: {error}") from error
    if not (isinstance(found, type) and issubclass(found, Schedule)):
        raise ValueError(f"{title} is broken: {point.value} is not derived from Schedule")
    if found.name != point.name:
        raise ValueError(f"{title} is broken: its class has the name {found.name!r}")
    return found


def written(value: Any) -> float | Schedule:
    """A number or a schedule from a value of a file or of the command line.

    Raises:
        ValueError: for anything else, including a callable.
    """
    if isinstance(value, Schedule):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, (list, tuple)):
        return _made(Piecewise, {"endpoints": value})
    if not isinstance(value, str):
        raise ValueError(f"it must be {ALLOWED}, got {value!r:.200}{_counts_timesteps(value)}")
    try:
        name, settings = parse_plugin(value)
    except PlanError as error:
        raise ValueError(str(error)) from None
    if settings:
        return _made(find_shape(name), settings)
    name, _, number = value.rpartition("_")
    try:
        parsed = float(number)
    except ValueError:
        raise ValueError(f"{value!r} is not a schedule: write {ALLOWED}") from None
    return of_one_number(name, parsed) if name else parsed


def of_one_number(name: str, number: float) -> Schedule:
    """The shape with that name, described by this number.

    Raises:
        ValueError: if there is no such shape, or one number does not describe it.
    """
    shape: Any = find_shape(name)
    try:
        made: Schedule = shape(number)
    except TypeError:
        raise ValueError(f"no single number describes a schedule {name!r}") from None
    return made


def _made(shape: type[Schedule], settings: dict[str, Any]) -> Schedule:
    """A shape with these settings; checks their types and ranges."""
    try:
        made: Schedule = structure(shape, settings, f"the schedule {shape.name!r}")
    except PlanError as error:
        raise ValueError(str(error).rstrip(".")) from None
    return made


def _counts_timesteps(value: Any) -> str:
    """A hint if the value is a function of timesteps, as `PiecewiseSchedule` is."""
    is_one = callable(getattr(value, "value", None))
    return ", which counts timesteps: rlk_schedules.Linear and Piecewise do not" if is_one else ""
