"""Wrappers for rlk, from `monitor` to `video-recorder`, and functions that read monitor files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_wrappers.results import LoadMonitorResultsError as LoadMonitorResultsError
    from rlk_wrappers.results import get_monitor_files as get_monitor_files
    from rlk_wrappers.results import load_results as load_results
    from rlk_wrappers.vector_monitor import VectorMonitor as VectorMonitor
else:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "LoadMonitorResultsError": "results",
            "VectorMonitor": "vector_monitor",
            "get_monitor_files": "results",
            "load_results": "results",
        },
    )
