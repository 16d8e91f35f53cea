"""Shapes of schedules, each a function of the remaining part of the run: from 1 down to 0."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
    """A function of what remains of a run that files can hold: as the text that a user would type.

    A shape is a frozen attrs class with a `name`; its fields hold what JSON has. One of another
    distribution is found by its entry point of that name, in the group `rlk_schedules`.
    """

    name: ClassVar[str]

    def __call__(self, remaining: float) -> float:
        """The value when this part of the run, 1 to 0, remains."""
        raise NotImplementedError

    def __str__(self) -> str:
        return str(self.as_setting() or repr(self))

    def extremes(self) -> tuple[float, ...]:
        """Values that it may take at other times than a validator looks at."""
        return ()

    def as_setting(self) -> Any:
        """What stands for it in a file: `NAME_NUMBER`, or `NAME:key=value,…`."""
        own: Any = type(self)
        fields = attrs.fields(own)
        changed = [one.name for one in fields if getattr(self, one.name) != one.default]
        if changed == [fields[0].name] and isinstance(getattr(self, changed[0]), float):
            return f"{self.name}_{getattr(self, changed[0])!r}"
        pairs = [f"{key}={json.dumps(getattr(self, key))}" for key in changed]
        return f"{self.name}:{','.join(pairs)}"

    @classmethod
    def from_setting(cls, value: Any) -> float | Schedule:
        """What a user or a file has written, as a number or a schedule.

        Raises:
            ValueError: if it is none, as a sentence on the setting.
        """
        from rlk_schedules.text import written  # not at the top: it knows every shape

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
class MiddleDrop(Schedule):
    """`initial`, times the curve `middle_drop`."""

    name: ClassVar[str] = "middle_drop"
    initial: float = attrs.field(converter=float)

    def __call__(self, remaining: float) -> float:
        return self.initial * curves.middle_drop(1.0 - remaining)


@attrs.frozen
class DoubleLinearCon(Schedule):
    """`initial`, times the curve `double_linear_con`."""

    name: ClassVar[str] = "double_linear_con"
    initial: float = attrs.field(converter=float)

    def __call__(self, remaining: float) -> float:
        return self.initial * curves.double_linear_con(1.0 - remaining)


@attrs.frozen
class DoubleMiddleDrop(Schedule):
    """`initial`, times the curve `double_middle_drop`."""

    name: ClassVar[str] = "double_middle_drop"
    initial: float = attrs.field(converter=float)

    def __call__(self, remaining: float) -> float:
        return self.initial * curves.double_middle_drop(1.0 - remaining)


def _parts_of_a_run(pairs: Iterable[tuple[float, float]]) -> Endpoints:
    """Endpoints whose times are parts of the run; ValueError for others."""
    found = as_endpoints(pairs)
    if found[0][0] < 0.0 or found[-1][0] > 1.0:
        raise ValueError(
            f"the times of a piecewise schedule are parts of the run that are done, 0 to 1, got "
            f"{found[0][0]:g} to {found[-1][0]:g}"
        )
    return found


@attrs.frozen
class Piecewise(Schedule):
    """Given values at given parts of the run; between two of them, a line or what is asked for.

    Args:
        endpoints: (part of the run that is done, value), with parts from 0 to 1 that never fall;
            two at the same part make a jump to the later one.
        interpolation: (value before, value after, part of the way between them). No file holds
            another one than the line.
        outside_value: the value before the first endpoint and after the last.

    Raises:
        ValueError: for no endpoints, parts that fall or are not in 0 to 1, or a part of the run
            that the endpoints leave open without an outside value.
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
        """The values of its endpoints, and the one outside of them."""
        outside = () if self.outside_value is None else (self.outside_value,)
        return (*(value for _, value in self.endpoints), *outside)

    def as_setting(self) -> Any:
        """The endpoints as lists, where that is all there is; None with an interpolation."""
        if self.interpolation is not linear_interpolation:
            return None
        pairs = [list(pair) for pair in self.endpoints]
        if self.outside_value is None:
            return pairs
        return f"{self.name}:endpoints={json.dumps(pairs)},outside_value={self.outside_value!r}"
