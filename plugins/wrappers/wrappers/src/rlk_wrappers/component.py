"""What planning knows of the wrappers in this distribution."""

from __future__ import annotations

from rlk.component import Component
from rlk_wrappers.config import MonitorConfig, NormalizeConfig

monitor = Component(
    name="monitor",
    factory="rlk_wrappers.vector_monitor:VectorMonitor",
    summary="Records the return, length and time of every episode in monitor.csv.",
    config=MonitorConfig,
    scope="vector",
    autostart="run",
)
normalize = Component(
    name="normalize",
    factory="rlk_wrappers.normalize:normalize",
    summary="Normalises observations and rewards by running statistics, as VecNormalize.",
    config=NormalizeConfig,
    scope="vector",
)
