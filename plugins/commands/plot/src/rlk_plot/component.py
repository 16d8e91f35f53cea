"""The component of `rlk plot`, which the command line loads before the command."""

from __future__ import annotations

from rlk.component import Component

plot = Component(
    name="plot",
    factory="rlk_plot.command:plot",
    summary="Draw the learning curve of one run, or the mean and spread of several runs.",
)
