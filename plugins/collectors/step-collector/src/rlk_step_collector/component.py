"""The component `steps`."""

from __future__ import annotations

from rlk.component import Component

component = Component(
    name="steps",
    factory="rlk_step_collector.collector:StepCollector",
    summary="steps the environments and stores the transitions, for any algorithm",
)
