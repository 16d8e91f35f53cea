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


@attrs.frozen(eq=False)
class _Number:
    """A number that steers training, and the values that it may have."""

    tensor: Tensor  #: 0-dim
    whose: str  #: what messages call it
    least: float

    def fill(self, value: Any) -> None:
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

    Attributes:
        by_name: the numbers that have a name, by which they are logged.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.by_name: dict[str, Tensor] = {}
        self._numbers: list[_Number] = []
        self._followed: list[tuple[Callable[[float], float], _Number]] = []

    def add(self, value: Scheduled, device: str, name: str) -> Tensor:
        """Add a number that has a name.

        Raises:
            RlkError: if one of that name exists already, or the number is not finite.
        """
        if name in self.by_name:
            raise RlkError(f"there are two scheduled numbers called {name!r}; name them apart")
        self.by_name[name] = self._new(value, device, f"the scheduled number {name!r}")
        return self.by_name[name]

    def add_rate(self, value: Scheduled, device: str, group: str) -> Tensor:
        """Add the learning rate of a parameter group; RlkError unless it is finite, at least 0."""
        return self._new(value, device, f"the learning rate of group {group!r}", least=0.0)

    def _new(
        self, value: Scheduled, device: str, whose: str, least: float = -LARGEST_FLOAT32
    ) -> Tensor:
        tensor = torch.zeros((), device=device)
        self._numbers.append(_Number(tensor, whose, least))
        self.change(tensor, value)
        return tensor

    def change(self, tensor: Tensor, value: Scheduled) -> None:
        """Set a number to this value or this schedule from now on; RlkError as for a new one."""
        (number,) = (one for one in self._numbers if one.tensor is tensor)
        number.fill(value(self._clock.remaining()) if callable(value) else value)
        self._followed = [pair for pair in self._followed if pair[1] is not number]
        if callable(value):
            self._followed.append((value, number))

    def named(self, name: str) -> Tensor:
        """The number of that name; UnknownName if it does not exist."""
        if name not in self.by_name:
            raise UnknownName("scheduled number", name, self.by_name)
        return self.by_name[name]

    def numbers(self) -> dict[str, float]:
        """The named numbers, as they are now."""
        return {name: float(tensor) for name, tensor in self.by_name.items()}

    def refresh(self) -> None:
        """Set every number that follows a schedule to its current value.

        Raises:
            RlkError: if a schedule returns a non-finite number, or for a rate one below 0.
        """
        remaining = self._clock.remaining()
        for schedule, number in self._followed:
            number.fill(schedule(remaining))
