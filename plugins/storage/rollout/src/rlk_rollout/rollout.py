"""The rollout that on-policy algorithms learn from: the last collection as a whole.

Dimensions: T time, N environments, F episodes that ended.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

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

    def following_observation(self) -> Any:
        """What each step led to, [T, N, ...], as a copy: where an episode ended, its final one."""
        if isinstance(self.observation, Mapping):
            return {key: self._following(key) for key in self.observation}
        return self._following(None)

    def _following(self, key: str | None) -> Array:
        """The same for one key of a Dict, or for observations that are one array."""
        parts = self.observation, self.next_observation, self.final_observation
        seen, after, final = parts if key is None else [part[key] for part in parts]
        following: Array = np.concatenate((seen[1:], after[None]))
        following[self.final_time, self.final_env] = final
        return following


@runtime_checkable
class OnPolicyStorage(Storage, Protocol):
    """Keeps one collection."""

    def latest(self) -> Rollout:
        """The last collection, as views."""
