"""The components: the command `tune`, and ranges for the algorithms of rlk."""

from __future__ import annotations

from rlk.component import Component

tune = Component(
    name="tune",
    factory="rlk_tune.command:tune",
    summary="Search for hyperparameters: train many agents and keep the best settings.",
)
ranges = Component(
    name="usual-ranges",
    factory="rlk_tune.usual_ranges:UsualRanges",
    summary="ranges for rlk tune to search, around the published settings of each algorithm",
)
