"""Numbers that change while a run goes on.

What a user may write for one, and the clock that drives them.

A schedule is a function of the *remaining* part of the run, from 1 at its start to 0 at its end, as
the callables of Stable Baselines are. Users write a number, such a callable, or `"lin_0.001"` (from
that value down to zero).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import attrs

Schedule = Callable[[float], float]
ScheduleLike = float | str | Schedule


class Clock:
    """How far a run has come. One vector step is `n_envs` timesteps.

    Attributes:
        timesteps: environment steps so far, over all environments of all ranks.
        total_timesteps: where the current call of `learn` ends.
        start: the timestep at which the current schedule began.
        iterations: collections finished. updates: calls of `algorithm.update`.
    """

    def __init__(self, total_timesteps: int) -> None:
        self.timesteps = 0
        self.total_timesteps = total_timesteps
        self.start = 0
        self.iterations = 0
        self.updates = 0

    def progress(self) -> float:
        """The part of the run that is done, 0 to 1."""
        span = self.total_timesteps - self.start
        return min(1.0, max(0.0, (self.timesteps - self.start) / span)) if span > 0 else 1.0

    def remaining(self) -> float:
        """What is left of the run, 1 to 0: the argument of every schedule."""
        return 1.0 - self.progress()

    def state_dict(self) -> dict[str, int]:
        return dict(vars(self))

    def load_state_dict(self, state: dict[str, int]) -> None:
        for name, value in state.items():
            setattr(self, name, int(value))


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


def as_schedule(value: ScheduleLike) -> Schedule:
    """The schedule a user meant.

    Raises:
        ValueError: for a string that is neither a number nor `lin_NUMBER`.
        TypeError: for anything else that is not a number or a callable.
    """
    if isinstance(value, bool):
        raise TypeError(
            "a schedule is a number, 'lin_0.001' or a callable of the remaining progress"
        )
    if isinstance(value, (int, float)):
        return Constant(value)
    if callable(value):
        return value
    if isinstance(value, str):
        kind, _, number = value.rpartition("_")
        try:
            if kind in ("lin", "linear"):
                return Linear(float(number))
            if kind == "":
                return Constant(float(number))
        except ValueError:
            pass
        raise ValueError(
            f"{value!r} is no schedule: write a number, 'lin_0.001', or pass a callable"
        )
    raise TypeError(
        f"a schedule is a number, 'lin_0.001' or a callable, got {type(value).__name__}"
    )


def is_schedule(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """An attrs validator for fields of type ScheduleLike."""
    try:
        as_schedule(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{attribute.name}: {error}") from None
