"""The numbers that steer training: 0-dim tensors that the run's clock fills anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from rlk.errors import RlkError, UnknownName

if TYPE_CHECKING:
    from rlk.running.clock import Clock, Scheduled


class Schedules:
    """Keeps each number at what was asked for: a value, or a function of what remains of the run.

    A number stays the same tensor, whatever it follows: graphs that read it go on reading it.

    Attributes:
        by_name: those that have a name; they are logged by it.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.by_name: dict[str, Tensor] = {}
        self._followed: list[tuple[Callable[[float], float], Tensor]] = []

    def add(self, value: Scheduled, device: Any, name: str = "") -> Tensor:
        """A number.

        Raises:
            RlkError: if there is one of that name already.
        """
        if name in self.by_name:
            raise RlkError(f"there are two scheduled numbers called {name!r}; name them apart")
        tensor = torch.zeros((), device=device)
        self.change(tensor, value)
        if name:
            self.by_name[name] = tensor
        return tensor

    def change(self, tensor: Tensor, value: Scheduled) -> None:
        """Let a number be this value, or follow this schedule, from now on."""
        self._followed = [pair for pair in self._followed if pair[1] is not tensor]
        if callable(value):
            self._followed.append((value, tensor))
        tensor.fill_(float(value(self._clock.remaining()) if callable(value) else value))

    def named(self, name: str) -> Tensor:
        """The number of that name; UnknownName if there is none."""
        if name not in self.by_name:
            raise UnknownName("scheduled number", name, self.by_name)
        return self.by_name[name]

    def numbers(self) -> dict[str, float]:
        """Those that have a name, as they are now."""
        return {name: float(tensor) for name, tensor in self.by_name.items()}

    def refresh(self) -> None:
        """Fill every number that follows a schedule with its value now."""
        for schedule, tensor in self._followed:
            tensor.fill_(schedule(self._clock.remaining()))
