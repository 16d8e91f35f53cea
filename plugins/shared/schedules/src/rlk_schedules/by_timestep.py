"""A piecewise function of timesteps, as Stable Baselines 2.10 documents it: `value(step)`.

It is for use in a program. Settings that accept schedules take functions of the remaining part of
the run instead, which are in `shapes.py`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import pairwise

import attrs

Interpolation = Callable[[float, float, float], float]
Endpoints = tuple[tuple[float, float], ...]


def linear_interpolation(left: float, right: float, alpha: float) -> float:
    """The point between `left` and `right` at the fraction `alpha`, 0 to 1."""
    return left + alpha * (right - left)


def as_endpoints(pairs: Iterable[tuple[float, float]]) -> Endpoints:
    """Pairs (time, value) as floats.

    Raises:
        ValueError: if there are no pairs, or times decrease.
    """
    found = tuple([(float(time), float(value)) for time, value in pairs])
    if not found or any(before[0] > after[0] for before, after in pairwise(found)):
        raise ValueError(f"endpoints are (time, value) in the order of time, got {list(found)!r}")
    return found


@attrs.frozen
class PiecewiseSchedule:
    """Given values at given times; between two of them, the result of `interpolation`.

    Two endpoints at the same time make a jump to the later one. At the time of the last endpoint,
    the value is that of this endpoint, as documented; the original counts that time as outside.

    Args:
        endpoints: (time, value), in any unit, with times that never decrease.
        interpolation: (value before, value after, elapsed fraction of the time between them).
        outside_value: the value before the first endpoint and after the last; if it is None, asking
            for such a value is an error.

    Raises:
        ValueError: if there are no endpoints, or times decrease.
    """

    endpoints: Endpoints = attrs.field(converter=as_endpoints)
    interpolation: Interpolation = linear_interpolation
    outside_value: float | None = None

    def value(self, step: float) -> float:
        """The value at a time, in the endpoints' unit.

        Raises:
            AssertionError: as in the original, outside the endpoints without an outside value.
        """
        after = bisect_right(self.endpoints, step, key=lambda endpoint: endpoint[0])
        (first, _), (last, last_value) = self.endpoints[0], self.endpoints[-1]
        if step == last:
            return last_value
        if 0 < after < len(self.endpoints):
            (start, left), (end, right) = self.endpoints[after - 1 : after + 1]
            return float(self.interpolation(left, right, (step - start) / (end - start)))
        if self.outside_value is None:
            raise AssertionError(
                f"this schedule goes from {first:g} to {last:g} and was asked for {step:g}: add "
                "endpoints there, or give it an outside_value"
            )
        return float(self.outside_value)
