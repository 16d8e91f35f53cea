"""Shapes of schedules, each a function of the remaining part of the run: from 1 down to 0."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import attrs

from rlk_schedules import curves
from rlk_schedules.by_timestep import (
    Endpoints,
    Interpolation,
    PiecewiseSchedule,
    as_endpoints,
    linear_interpolation,
)


class Schedule:
    """A function of the remaining part of a run that can be saved as the text a user would type.

    A shape is a frozen attrs class with a `name`; its fields have values that JSON can represent. A
    shape of another distribution is found by its entry point in the group `rlk_schedules`.
    """

    name: ClassVar[str]

    def __call__(self, remaining: float) -> float:
        """The value when this part of the run remains, 1 to 0."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.as_setting() or repr(self))

    def extremes(self) -> tuple[float, ...]:
        """Further values that it may take, at times that a validator does not check."""
        return ()

    def as_setting(self) -> Any:
        """Its form in a file: `NAME_NUMBER`, or `NAME:key=value,…`."""
        own: Any = type(self)
        fields = attrs.fields(own)
        changed = [one.name for one in fields if getattr(self, one.name) != one.default]
        if changed == [fields[0].name] and isinstance(getattr(self, changed[0]), float):
            return f"{self.name}_{getattr(self, changed[0])!r}"
        pairs = [f"{key}={json.dumps(getattr(self, key))}" for key in changed]
        return f"{self.name}:{','.join(pairs)}"

    @classmethod
    def from_setting(cls, value: Any) -> float | Schedule:
        """The number or schedule from a value that a user or a file has written.

        Raises:
            ValueError: if it is neither; the message is a sentence about the setting.
        """
        from rlk_schedules.text import written  # not at the top: it imports every shape

        try:
            return written(value)
        except ValueError as error:
            raise ValueError(f"is refused: {error}") from None


@attrs.frozen
class Constant(Schedule):
    """The same value at all times."""

    name: ClassVar[str] = "constant"
    value: float = attrs.field(converter=float)

    def __call__(self, remaining: float) -> float:
        return self.value


def _is_part_of_a_run(_: object, attribute: attrs.Attribute[Any], value: float) -> None:
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{attribute.name} is a part of the run, 0 to 1, got {value:g}")


@attrs.frozen
class Linear(Schedule):
    """From `initial` to `final`, reaching it when `fraction` of the run is done, 0 to 1."""

    name: ClassVar[str] = "linear"
    initial: float = attrs.field(converter=float)
    final: float = attrs.field(default=0.0, converter=float)
    fraction: float = attrs.field(default=1.0, converter=float, validator=_is_part_of_a_run)

    def __call__(self, remaining: float) -> float:
        done = min(1.0, (1.0 - remaining) / self.fraction) if self.fraction > 0 else 1.0
        return linear_interpolation(self.initial, self.final, done)


@attrs.frozen
class _Curve(Schedule):
    """`initial`, times a curve of the part of the run that is done."""

    curve: ClassVar[Callable[[float], float]]
    initial: float = attrs.field(converter=float)

    def __call__(self, remaining: float) -> float:
        return self.initial * type(self).curve(1.0 - remaining)


class MiddleDrop(_Curve):
    """`initial`, times the curve `middle_drop`."""

    name, curve = "middle_drop", curves.middle_drop


class DoubleLinearCon(_Curve):
    """`initial`, times the curve `double_linear_con`."""

    name, curve = "double_linear_con", curves.double_linear_con


class DoubleMiddleDrop(_Curve):
    """`initial`, times the curve `double_middle_drop`."""

    name, curve = "double_middle_drop", curves.double_middle_drop


def _parts_of_a_run(pairs: Iterable[tuple[float, float]]) -> Endpoints:
    """Endpoints whose times are parts of the run; ValueError for other times."""
    found = as_endpoints(pairs)
    if found[0][0] < 0.0 or found[-1][0] > 1.0:
        raise ValueError(
            f"the times of a piecewise schedule are parts of the run that are done, 0 to 1, got "
            f"{found[0][0]:g} to {found[-1][0]:g}"
        )
    return found


@attrs.frozen
class Piecewise(Schedule):
    """Given values at given parts of the run; linear, or as `interpolation` says, between two.

    Args:
        endpoints: (elapsed part of the run, value); parts are from 0 to 1 and never decrease; two
            at the same part make a jump to the later one.
        interpolation: (value before, value after, fraction of the way between them). Files can
            store only the linear one.
        outside_value: the value before the first endpoint and after the last.

    Raises:
        ValueError: if there are no endpoints, parts decrease or are not in 0 to 1, or the endpoints
            do not cover the run and there is no outside value.
    """

    name: ClassVar[str] = "piecewise"
    endpoints: Endpoints = attrs.field(converter=_parts_of_a_run)
    interpolation: Interpolation = linear_interpolation
    outside_value: float | None = attrs.field(
        default=None, converter=attrs.converters.optional(float)
    )

    def __attrs_post_init__(self) -> None:
        first, last = self.endpoints[0][0], self.endpoints[-1][0]
        if self.outside_value is None and (first, last) != (0.0, 1.0):
            raise ValueError(
                f"this schedule goes from {first:g} to {last:g} of the run: add endpoints at 0 and "
                "1, or give it an outside_value"
            )

    def __call__(self, remaining: float) -> float:
        return PiecewiseSchedule(self.endpoints, self.interpolation, self.outside_value).value(
            1.0 - remaining
        )

    def extremes(self) -> tuple[float, ...]:
        """The values of its endpoints, and the outside value."""
        outside = () if self.outside_value is None else (self.outside_value,)
        return (*(value for _, value in self.endpoints), *outside)

    def as_setting(self) -> Any:
        """The endpoints as lists, if they are all there is; None with an interpolation."""
        if self.interpolation is not linear_interpolation:
            return None
        pairs = [list(pair) for pair in self.endpoints]
        if self.outside_value is None:
            return pairs
        return f"{self.name}:endpoints={json.dumps(pairs)},outside_value={self.outside_value!r}"
