"""The window, which the sampling stages pass to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rlk.records import Array


@dataclass(slots=True)
class Window:
    """L consecutive steps from each of B slots, copied out: a stage may write to them.

    Time comes first, so that step k of the whole batch is contiguous. Step k of window b counts
    if `k < length[b]`: a window ends with its episode, or with the newest step stored, and later
    rows are unrelated.

    `observation` has one row more than there are steps: step k went from `observation[k]` to
    `observation[k + 1]`, which is the final observation where the episode ended. Because each
    observation occurs once, one assignment sets a goal for the whole window.

    Attributes:
        index: int64 [B], the chosen index: slot + variant * slots (see `Replay.variants`).
        slot: int64 [B], where the first step is stored.
        length: int64 [B], steps that count, 1 to L. Not to be written to.
        observation: [L+1, B, ...], or a dict of such arrays.
        action: [L, B, ...].
        reward: float32 [L, B].
        terminated, truncated: bool [L, B].
        extras: each [L, B, ...].
        weight: float32 [B], from the stage `choose`. Not to be written to.
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
