"""What an algorithm that learns on-policy and from sequences of the past asks of its storage."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rlk_rollout.rollout import OnPolicyStorage, Rollout


@runtime_checkable
class TrajectoryStorage(OnPolicyStorage, Protocol):
    """Keeps the newest collection and others from before it."""

    def sequences(self) -> Rollout:
        """Sequences as long as a collection, one of every environment, drawn from all kept."""
