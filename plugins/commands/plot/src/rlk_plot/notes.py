"""Notes on what a figure cannot show: repeated seeds, means that end early, too many groups."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rlk_plot.curves import Curve, repeated_seeds
from rlk_plot.figure import LOOKS, unit_of
from rlk_plot.groups import groups_of, panels_of


def notes_on(curves: Sequence[Curve], x: str) -> Iterator[str]:
    """Sentences on the figure of these runs, and on its means.

    Args:
        curves, x: as for `figure`.
    """
    for env, members in panels_of(curves).items():
        groups = groups_of(members)
        if len(groups) > LOOKS:
            yield (
                f"{len(groups)} curves{f' on {env}' if env else ''} are more than the {LOOKS} "
                "looks that a panel has, so some of them look alike. Draw fewer at a time."
            )
        for _, group in groups:
            yield from _on_seeds(group)
            yield from _on_the_end(group, x, *unit_of(x, members))


def _on_seeds(group: Sequence[Curve]) -> Iterator[str]:
    for seed, same in repeated_seeds(group).items():
        yield (
            f"these runs have the same seed, {seed}: {_folders(same)}. They are not independent, "
            "although the mean and its spread count them as if they were. Draw one of them."
        )


def _on_the_end(group: Sequence[Curve], x: str, unit: str, scale: float) -> Iterator[str]:
    """A note if the mean, which ends with the shortest run, has less than half of the median."""
    ends = [float(curve.x(x)[-1]) for curve in group]
    median = float(np.median(ends))
    short = [curve for curve, end in zip(group, ends, strict=True) if end < median / 2]
    if short:
        yield (
            f"the mean of {len(group)} runs ends at {_rounded(min(ends) / scale)} {unit}, although "
            f"their median is {_rounded(median / scale)}, because of {_folders(short)}. To see "
            "more of the others, leave it out."
        )


def _rounded(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _folders(curves: Sequence[Curve]) -> str:
    return ", ".join(str(curve.folder) for curve in curves)
