"""The window: what the stages of sampling hand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlk.records import Array


@dataclass(slots=True)
class Window:
    """L consecutive steps from each of B slots, time first, so that the step k of all of them is contiguous.

    The arrays are copies of what is stored: a stage may write to them or replace them.

    Step k of window b counts where `k < length[b]`. A window ends early with its episode, and with
    the newest step stored; what stands behind is another episode's. `observation` has one more row
    than there are steps: the observation before step k is `observation[k]`, the one after it
    `observation[k + 1]`, and where the episode ended with step k that row holds what it ended on.
    An observation is there once, so a goal is set for a whole window by one assignment.

    Attributes:
        index: int64 [B], what was chosen: slot + variant * slots (see `Replay.variants`).
        slot: int64 [B], where the first step is stored.
        length: int64 [B], steps that count, 1 to L.
        observation: [L+1, B, ...], or a dict of such arrays.
        action: [L, B, ...].
        reward: float32 [L, B].
        terminated, truncated: bool [L, B].
        extras: each [L, B, ...].
        weight: float32 [B], from the stage `choose`.
    """

    index: Array
    slot: Array
    length: Array
    observation: Any
    action: Array
    reward: Array
    terminated: Array
    truncated: Array
    extras: Mapping[str, Array]
    weight: Array
