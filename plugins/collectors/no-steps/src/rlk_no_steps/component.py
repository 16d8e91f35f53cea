"""The component `no-steps`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="no-steps",
    factory="rlk_no_steps.collector:NoSteps",
    summary="steps no environment: training is offline, from what the storage holds",
    steps_nothing=True,
)
