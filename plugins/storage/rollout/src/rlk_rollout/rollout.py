"""The rollout that on-policy algorithms learn from: the last collection as a whole.

Dimensions: T time, N environments, F episodes that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from rlk.protocols import Storage
from rlk.records import Array


@dataclass(frozen=True)
class Rollout:
    """The last collection of an on-policy storage: numpy views that the next one overwrites."""

    observation: Any  #: [T, N, ...]
    action: Array  #: [T, N, ...]
    reward: Array  #: float32 [T, N]
    terminated: Array  #: bool [T, N]
    truncated: Array  #: bool [T, N]
    next_observation: Any  #: [N, ...], the observation after the last step
    final_time: Array  #: int [F], the steps in the rollout at which episodes ended
    final_env: Array  #: int [F], their environments
    final_observation: Any  #: [F, ...], their final observations
    extras: Mapping[str, Array]  #: each [T, N, ...], or [1, N, ...] for a field `first_only`


@runtime_checkable
class OnPolicyStorage(Storage, Protocol):
    """Keeps one collection."""

    def latest(self) -> Rollout:
        """The last collection, as views."""
