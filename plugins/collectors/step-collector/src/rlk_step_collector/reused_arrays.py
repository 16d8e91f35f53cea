"""Copies what vector environments return that write every step into the same arrays.

Gymnasium's do with `copy=False`, and so do those that return their own state. A storage needs the
observation before a step and the one after it at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rlk.spaces import map_observation


def share_memory(before: Any, after: Any) -> bool:
    """Whether an array of one observation may have memory in common with its part of the other."""
    if isinstance(before, Mapping):
        return any(share_memory(part, after[key]) for key, part in before.items())
    return np.may_share_memory(before, after)


def copied(observation: Any) -> Any:
    """A copy of an observation, [N, …] or a dict of such."""
    return map_observation(np.copy, observation)


def copying(step: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A vector environment's `step`, whose observations no later step overwrites."""

    def step_and_copy(actions: Any) -> Any:
        observation, *others = step(actions)
        return copied(observation), *others

    return step_and_copy
