"""Numbers that change while a run goes on, and the clock that drives them.

A schedule is a function of the *remaining* part of the run, from 1 at its start to 0 at its end, as
the callables of Stable Baselines are. Users write a number, such a callable, or `"lin_0.001"` (from
that value down to zero)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import attrs

Schedule = Callable[[float], float]
ScheduleLike = float | str | Schedule


@dataclass
class Clock:
    """How far a run has come. One vector step is `n_envs` timesteps."""

    total_timesteps: int  #: where the current call of `learn` ends
    timesteps: int = 0  #: environment steps so far, over all environments of all ranks
    start: int = 0  #: the timestep at which the current schedule began
    iterations: int = 0  #: collections finished
    updates: int = 0  #: calls of `algorithm.update`

    def progress(self) -> float:
        """The part of the run that is done, 0 to 1."""
        span = self.total_timesteps - self.start
        return min(1.0, max(0.0, (self.timesteps - self.start) / span)) if span > 0 else 1.0

    def remaining(self) -> float:
        """What is left of the run, 1 to 0: the argument of every schedule."""
        return 1.0 - self.progress()

    def state_dict(self) -> dict[str, int]:
        return asdict(self)

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
        TypeError: for anything else that is not a number or a callable."""
    if callable(value):
        return value
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Constant(value)
    allowed = "a number, 'lin_0.001' or a callable of the remaining progress"
    if not isinstance(value, str):
        raise TypeError(f"a schedule is {allowed}, got {type(value).__name__}")
    kind, _, number = value.rpartition("_")
    kinds: dict[str, type[Constant | Linear]] = {"": Constant, "lin": Linear, "linear": Linear}
    try:
        return kinds[kind](float(number))
    except (KeyError, ValueError):
        raise ValueError(f"{value!r} is no schedule: write {allowed}") from None


def is_schedule(_: object, attribute: attrs.Attribute[Any], value: Any) -> None:
    """An attrs validator for fields of type ScheduleLike."""
    try:
        as_schedule(value)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{attribute.name}: {error}") from None
