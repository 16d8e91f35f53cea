"""What all ranks measured, as one: rows of metrics, and the episodes that ended."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rlk.running.run import Run

#: How many ended on a rank since the last border, and the latest of them as (return, length).
News = tuple[int, list[tuple[float, int]]]


def merged(
    rows: Sequence[Mapping[str, float] | None], mine: Mapping[str, float]
) -> dict[str, float]:
    """One row of all ranks' rows, with this rank's tags first.

    Times, counts and whatever is equal anyway are this rank's own, for the clock counts the steps
    of all ranks; a tag that differs becomes the mean over the ranks that have a finite value.
    """
    there = [row for row in rows if row is not None]
    tags = dict.fromkeys([*mine, *[tag for row in there for tag in row]])
    found = {}
    for tag in tags:
        values = [row[tag] for row in there if tag in row]
        if tag in mine and (tag.startswith("time/") or all(value == mine[tag] for value in values)):
            found[tag] = mine[tag]
            continue
        finite = [value for value in values if math.isfinite(value)]
        found[tag] = sum(finite) / len(finite) if finite else math.nan
    return found


def news(run: Run, counted: int) -> News | None:
    """What ended on this rank since `counted` episodes were known, or None."""
    new = run.clock.episodes - counted
    return (new, list(run.metrics.recent_episodes)[-new:]) if new else None


def take_in(run: Run, said: Sequence[News | None], rank: int) -> None:
    """Put the episodes of all ranks, in the order of ranks, where those of this rank stand."""
    for _ in range(len(said[rank][1]) if said[rank] else 0):  # type: ignore[index]
        run.metrics.recent_episodes.pop()
    for number, one in enumerate(said):
        if one is not None:
            run.metrics.recent_episodes.extend(one[1])
            run.clock.episodes += one[0] if number != rank else 0
