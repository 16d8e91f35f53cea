"""The components of `rlk evaluate` and `rlk enjoy`, which the command line loads first."""

from __future__ import annotations

from rlk.component import Component

evaluate = Component(
    name="evaluate",
    factory="rlk_evaluate.command:evaluate",
    summary="Play whole episodes with a trained model and print their mean return.",
)

enjoy = Component(
    name="enjoy",
    factory="rlk_evaluate.command:enjoy",
    summary="Watch a trained model play in a window, or record it as a film.",
)
