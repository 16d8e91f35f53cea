"""Merges the metrics of the ranks: rows of metrics, and the episodes that ended."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk.running.run import Run

#: How many episodes ended on a rank since the last iteration; the latest as (return, length), and
#: whether each was a success.
EndedEpisodes = tuple[int, list[tuple[float, int]], list[float | None]]


def merge_rows(
    rows: Sequence[Mapping[str, float] | None], mine: Mapping[str, float]
) -> dict[str, float]:
    """One row of all ranks' rows, with this rank's tags first.

    Times and values that are equal on all ranks stay this rank's own, since the clock counts the
    steps of all ranks; a tag that differs becomes the mean over the ranks with a finite value.
    """
    known = [row for row in rows if row is not None]
    tags = dict.fromkeys([*mine, *[tag for row in known for tag in row]])
    found = {}
    for tag in tags:
        values = [row[tag] for row in known if tag in row]
        if tag in mine and (tag.startswith("time/") or all(value == mine[tag] for value in values)):
            found[tag] = mine[tag]
            continue
        finite = [value for value in values if math.isfinite(value)]
        found[tag] = sum(finite) / len(finite) if finite else math.nan
    return found


def new_episodes(run: Run, counted: int) -> EndedEpisodes | None:
    """The episodes that ended on this rank after the first `counted`; None if there are none."""
    new, metrics = run.clock.episodes - counted, run.metrics
    if not new:
        return None
    return new, list(metrics.recent_episodes)[-new:], list(metrics.recent_successes)[-new:]


def merge_episodes(run: Run, reports: Sequence[EndedEpisodes | None], rank: int) -> None:
    """Replace the new episodes of this rank by those of all ranks, in the order of ranks."""
    episodes, successes = run.metrics.recent_episodes, run.metrics.recent_successes
    mine = reports[rank]
    if mine is not None:
        _drop(episodes, len(mine[1]))
        _drop(successes, len(mine[2]))
    for number, report in enumerate(reports):
        if report is not None:
            episodes.extend(report[1])
            successes.extend(report[2])
            run.clock.episodes += report[0] if number != rank else 0


def _drop(recent: deque[Any], count: int) -> None:
    """Remove so many of the latest."""
    for _ in range(count):
        recent.pop()
