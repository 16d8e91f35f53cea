"""The component: the module that registers highway-env's ids, and how to install it."""

from __future__ import annotations

from rlk.component import Component
from rlk_gymnasium.ids import ids

component = Component(
    name="highway",
    factory=ids(
        *("highway-*", "parking-*", "merge-*", "roundabout-*", "intersection-*", "racetrack-*"),
        *("exit-*", "lane-keeping-*", "two-way-*", "u-turn-*"),
        registered_by="highway_env",
        install='pip install "rlk-highway[highway]"',
    ),
    summary="parking-v0 (goals), highway-v0 and the other driving tasks of highway-env",
)
