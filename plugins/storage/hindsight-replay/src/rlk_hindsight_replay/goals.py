"""Which steps may provide the goal of a transition, and a uniform draw among them.

The goal of a step is what it *led to*: the achieved goal of its next observation, or at the end of
an episode that of the final one. Eligible for the transition at step t of an episode whose steps
first..last are stored (in a running episode, last is the newest step):

    future    t..last: what was reached after it, by itself too
    final     last, once the episode has ended
    episode   first..last
    random    every step stored, of all environments

Dimensions: B transitions.
"""

from __future__ import annotations

import numpy as np

from rlk.records import Array
from rlk_hindsight_replay.config import Strategy
from rlk_replay.protocol import ReplayBase


def draw(
    strategy: Strategy, base: ReplayBase, slot: Array, rng: np.random.Generator
) -> tuple[Array, Array | None]:
    """The slots of steps that provide the goals, int64 [B]; which of them count, bool [B].

    The second is None if all do. Only `final` has no goal to offer, while an episode runs.

    Args:
        base: the replay storage, which knows where episodes begin and end.
        slot: int64 [B], the transitions.
    """
    if strategy == "random":
        return (rng.random(len(slot)) * len(base)).astype(np.int64), None
    to_end = base.steps_to_end(slot)
    if strategy == "final":
        return base.following(slot, to_end), base.is_over(slot)
    back = base.steps_from_start(slot) if strategy == "episode" else 0
    steps = (rng.random(len(slot)) * (back + to_end + 1)).astype(np.int64) - back
    return base.following(slot, steps), None
