"""Merges the metrics of the ranks: rows of metrics, and the episodes that ended."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
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
    """Replace the new episodes of this rank by those of all ranks, the latest of each at the end.

    One rank after another would leave those of the last rank alone in a window that is full.
    """
    episodes, successes = run.metrics.recent_episodes, run.metrics.recent_successes
    mine = reports[rank]
    if mine is not None:
        _drop(episodes, len(mine[1]))
        _drop(successes, len(mine[2]))
    known = [report for report in reports if report is not None]
    episodes.extend(in_turn([latest for _, latest, _ in known]))
    successes.extend(in_turn([latest for _, _, latest in known]))
    run.clock.episodes += sum(new for new, _, _ in known) - (mine[0] if mine else 0)


def in_turn(lists: Sequence[Sequence[Any]]) -> Iterator[Any]:
    """The elements of all lists in turn, so that the last ones stand together at the end."""
    longest = max(map(len, lists), default=0)
    for from_end in range(longest, 0, -1):
        yield from (one[-from_end] for one in lists if len(one) >= from_end)


def _drop(recent: deque[Any], count: int) -> None:
    """Remove so many of the latest."""
    for _ in range(count):
        recent.pop()
