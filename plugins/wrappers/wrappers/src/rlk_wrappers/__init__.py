"""Wrappers for rlk, from `monitor` to `video-recorder`, and functions that read monitor files."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_wrappers.results import LoadMonitorResultsError, get_monitor_files, load_results
    from rlk_wrappers.vector_monitor import VectorMonitor

__all__ = ["LoadMonitorResultsError", "VectorMonitor", "get_monitor_files", "load_results"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rlk_wrappers' has no attribute {name!r}")
    module = "vector_monitor" if name == "VectorMonitor" else "results"
    return getattr(importlib.import_module(f"rlk_wrappers.{module}"), name)
