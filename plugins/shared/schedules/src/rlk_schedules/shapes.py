"""Shapes of schedules, each a function of the remaining part of the run: from 1 down to 0."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise


class Constant:
    """The same value at all times."""

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def __call__(self, remaining: float) -> float:
        return self.value


class Linear:
    """From `initial` to `final`, reaching it when `fraction` of the run is done."""

    def __init__(self, initial: float, final: float = 0.0, fraction: float = 1.0) -> None:
        self.initial, self.final, self.fraction = float(initial), float(final), float(fraction)

    def __call__(self, remaining: float) -> float:
        done = min(1.0, (1.0 - remaining) / self.fraction) if self.fraction > 0 else 1.0
        return self.initial + done * (self.final - self.initial)


def interpolated(left: float, right: float, alpha: float) -> float:
    """On the line from `left` to `right`, `alpha` of the way: 0 to 1."""
    return left + alpha * (right - left)


class Piecewise:
    """Given values at given times; between two of them, what `interpolation` makes of both.

    Stable Baselines' PiecewiseSchedule. Two endpoints at the same time make a jump to
    the later one.

    Args:
        endpoints: (time, value) with times that never fall: parts of the run that are done, 0 to 1;
            for `value`, any unit.
        interpolation: (value before, value after, part of the time between them that is over).
        outside_value: the value before the first endpoint and after the last; None makes it an
            error to ask for one.

    Raises:
        ValueError: for no endpoints, or times that fall.
    """

    def __init__(
        self,
        endpoints: Sequence[tuple[float, float]],
        interpolation: Callable[[float, float, float], float] = interpolated,
        outside_value: float | None = None,
    ) -> None:
        self.times, self.values = [t for t, _ in endpoints], [value for _, value in endpoints]
        if not self.times or any(before > after for before, after in pairwise(self.times)):
            raise ValueError(f"endpoints are (time, value) in the order of time, got {endpoints!r}")
        self.interpolation, self.outside_value = interpolation, outside_value

    def __call__(self, remaining: float) -> float:
        return self.value(1.0 - remaining)

    def value(self, time: float) -> float:
        """The value at a time, in the endpoints' unit.

        Raises:
            AssertionError: as the original's, outside the endpoints if there is no outside value.
        """
        after = bisect_right(self.times, time)
        if time == self.times[-1]:
            return float(self.values[-1])
        if 0 < after < len(self.times):
            start, end = self.times[after - 1], self.times[after]
            left, right = self.values[after - 1], self.values[after]
            return float(self.interpolation(left, right, (time - start) / (end - start)))
        if self.outside_value is None:
            raise AssertionError(
                f"this schedule goes from {self.times[0]} to {self.times[-1]} and was asked for "
                f"{time}: add endpoints there, or give it an outside_value"
            )
        return float(self.outside_value)
