"""The interface of a storage for algorithms that learn on-policy and from earlier sequences."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from rlk_rollout.rollout import OnPolicyStorage, Rollout


@runtime_checkable
class TrajectoryStorage(OnPolicyStorage, Protocol):
    """Keeps the newest collection and earlier ones."""

    def sequences(self) -> Rollout:
        """Sequences as long as a collection, one of every environment, drawn from all kept."""
