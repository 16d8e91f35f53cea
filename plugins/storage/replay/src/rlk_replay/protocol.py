"""The interface of a replay storage for off-policy algorithms, and for decorators."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rlk.protocols import Decorator, Storage
from rlk.records import Batch


@runtime_checkable
class ReplayStorage(Storage, Protocol):
    """Keeps many collections and samples from them in four stages."""

    def decorate(self, decorator: Decorator) -> None:
        """Hand over the stages that the decorator has methods for."""

    def sample(self, batch_size: int) -> Batch:
        """Transitions of any time, float32 and int64 where they are numbers."""
