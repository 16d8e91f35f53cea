"""The named curves of Stable Baselines 2.10: factors that depend on the progress of the run.

Each takes `progress`, from 0 at the start of the run to 1 at its end, and returns a factor.
"""

from __future__ import annotations


def constant(progress: float) -> float:
    """1 at all times."""
    return 1.0


def linear_schedule(progress: float) -> float:
    """1 - progress: from 1 to 0."""
    return 1.0 - progress


def middle_drop(progress: float) -> float:
    """1 - progress until a quarter of the run is done, and 0.075 from then on."""
    return 1.0 - progress if 1.0 - progress >= 0.75 else 0.075


def double_linear_con(progress: float) -> float:
    """1 - 2 * progress, but at least 0.125."""
    return max(1.0 - 2.0 * progress, 0.125)


def double_middle_drop(progress: float) -> float:
    """1 - progress for a quarter of the run, then 0.75, and 0.125 in its last quarter.

    As documented. The code of Stable Baselines 2.10 returns 0.075 in the middle, which would make
    the value rise again in the last quarter.
    """
    remaining = 1.0 - progress
    if remaining >= 0.75:
        return remaining
    return 0.75 if remaining >= 0.25 else 0.125
