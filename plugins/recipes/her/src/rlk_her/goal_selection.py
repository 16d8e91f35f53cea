"""Stable Baselines' `GoalSelectionStrategy`: the values of `goal_selection_strategy`."""

from __future__ import annotations

import enum


class GoalSelectionStrategy(enum.StrEnum):
    """Which goals a transition can get in hindsight."""

    FUTURE = "future"  #: those reached after it in its episode
    FINAL = "final"  #: the one reached at the end of its episode
    EPISODE = "episode"  #: those reached anywhere in its episode
    RANDOM = "random"  #: those reached at any time
