"""The numbers that steer training: 0-dim tensors that follow the run's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import attrs
import torch
from torch import Tensor

from rlk.errors import RlkError, UnknownName
from rlk.settings import LARGEST_FLOAT32
from rlk.strict_types import own_number

if TYPE_CHECKING:
    from rlk.running.clock import Clock, Scheduled


@attrs.define(eq=False)
class _Number:
    """A number that steers training, the values that it may have, and what it follows."""

    tensor: Tensor  #: 0-dim
    whose: str  #: what messages call it
    least: float
    schedule: Callable[[float], float] | None = None  #: None of a constant

    def follow(self, value: Scheduled, remaining: float) -> None:
        """Follow this schedule, or stay at this number, from now on; RlkError as `_fill`."""
        schedule = value if callable(value) else None
        self._fill(value if schedule is None else schedule(remaining))
        self.schedule = schedule

    def refresh(self, remaining: float) -> None:
        """Set it to the current value of its schedule; RlkError as `_fill`."""
        if self.schedule is not None:
            self._fill(self.schedule(remaining))

    def _fill(self, value: Any) -> None:
        """Set it; RlkError for what is no finite number, or too small a one."""
        if (
            not isinstance(own_number(value), (int, float))
            or not self.least <= value <= LARGEST_FLOAT32
        ):
            wanted = "a finite number" + ", at least 0" * (self.least == 0)
            raise RlkError(
                f"{self.whose} would be {value!r:.80}. It was not set. Give {wanted}, or a "
                "function of the fraction of training that remains, 1 to 0, which returns such "
                "numbers."
            )
        self.tensor.fill_(value)


class Schedules:
    """Numbers that are each a constant, or a function of the fraction of the run that remains.

    A number stays the same tensor, whatever it follows, so graphs that read it stay valid.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._named: dict[str, _Number] = {}
        self._rates: dict[str, _Number] = {}  # by the name of their parameter group

    def __contains__(self, name: str) -> bool:
        """Whether there is a number of that name."""
        return name in self._named

    def add(self, value: Scheduled, device: str, name: str) -> Tensor:
        """Add a number that has a name.

        Raises:
            RlkError: if one of that name exists already, or the number is not finite.
        """
        if name in self:
            raise RlkError(f"there are two scheduled numbers called {name!r}; name them apart")
        whose, tensor = f"the scheduled number {name!r}", torch.zeros((), device=device)
        self._named[name] = self._following(_Number(tensor, whose, -LARGEST_FLOAT32), value)
        return tensor

    def add_rate(self, value: Scheduled, device: str, group: str) -> Tensor:
        """Add the learning rate of a parameter group; RlkError unless it is finite, at least 0."""
        whose, tensor = f"the learning rate of group {group!r}", torch.zeros((), device=device)
        self._rates[group] = self._following(_Number(tensor, whose, 0.0), value)
        return tensor

    def change(self, name: str, value: Scheduled) -> None:
        """As `Run.reschedule`."""
        if name not in self._named:
            raise UnknownName("scheduled number", name, self._named)
        self._following(self._named[name], value)

    def change_rate(self, group: str, value: Scheduled) -> None:
        """As `Run.reschedule_rate`."""
        if group not in self._rates:
            raise UnknownName("parameter group", group, self._rates)
        self._following(self._rates[group], value)

    def _following(self, number: _Number, value: Scheduled) -> _Number:
        number.follow(value, self._clock.remaining())
        return number

    def numbers(self) -> dict[str, float]:
        """The named numbers, as they are now."""
        return {name: float(one.tensor) for name, one in self._named.items()}

    def refresh(self) -> None:
        """Set every number that follows a schedule to its current value.

        Raises:
            RlkError: if a schedule returns a non-finite number, or for a rate one below 0.
        """
        remaining = self._clock.remaining()
        for number in (*self._named.values(), *self._rates.values()):
            number.refresh(remaining)
