"""What off-policy algorithms ask of a replay storage, and the kernel of one that is decorated."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rlk.protocols import Decorator, Storage
from rlk.records import Batch


@runtime_checkable
class ReplayStorage(Storage, Protocol):
    """Keeps many collections and samples from them in four stages."""

    def decorate(self, decorator: Decorator) -> None:
        """Hand over the stages that it has a method of."""

    def sample(self, batch_size: int) -> Batch:
        """Transitions of any time, float32 and int64 where they are numbers."""
