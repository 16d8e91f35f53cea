"""The numbers that steer training: 0-dim tensors that follow the run's clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.errors import RlkError, UnknownName

if TYPE_CHECKING:
    from rlk.running.clock import Clock, Scheduled


class Schedules:
    """Numbers that are each a constant, or a function of the fraction of the run that remains.

    A number stays the same tensor, whatever it follows, so graphs that read it stay valid.

    Attributes:
        by_name: the numbers that have a name, by which they are logged.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.by_name: dict[str, Tensor] = {}
        self._followed: list[tuple[Callable[[float], float], Tensor]] = []

    def add(self, value: Scheduled, device: Any, name: str = "") -> Tensor:
        """Add a number.

        Raises:
            RlkError: if one of that name exists already.
        """
        if name in self.by_name:
            raise RlkError(f"there are two scheduled numbers called {name!r}; name them apart")
        tensor = torch.zeros((), device=device)
        self.change(tensor, value)
        if name:
            self.by_name[name] = tensor
        return tensor

    def change(self, tensor: Tensor, value: Scheduled) -> None:
        """Set a number to this value or this schedule from now on."""
        self._followed = [pair for pair in self._followed if pair[1] is not tensor]
        if callable(value):
            self._followed.append((value, tensor))
        tensor.fill_(float(value(self._clock.remaining()) if callable(value) else value))

    def named(self, name: str) -> Tensor:
        """The number of that name; UnknownName if it does not exist."""
        if name not in self.by_name:
            raise UnknownName("scheduled number", name, self.by_name)
        return self.by_name[name]

    def numbers(self) -> dict[str, float]:
        """The named numbers, as they are now."""
        return {name: float(tensor) for name, tensor in self.by_name.items()}

    def refresh(self) -> None:
        """Set every number that follows a schedule to its current value."""
        for schedule, tensor in self._followed:
            tensor.fill_(schedule(self._clock.remaining()))
