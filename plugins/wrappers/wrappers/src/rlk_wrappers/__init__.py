"""Wrappers of environments; `Monitor`, `VecNormalize` and `load_results` are the seed's names."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_wrappers.monitor import Monitor
    from rlk_wrappers.results import LoadMonitorResultsError, get_monitor_files, load_results
    from rlk_wrappers.vec_normalize import VecNormalize
    from rlk_wrappers.vector_monitor import VectorMonitor

__all__ = [
    "LoadMonitorResultsError",
    "Monitor",
    "VecNormalize",
    "VectorMonitor",
    "get_monitor_files",
    "load_results",
]

_HOMES = {
    "Monitor": "monitor",
    "VecNormalize": "vec_normalize",
    "VectorMonitor": "vector_monitor",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rlk_wrappers' has no attribute {name!r}")
    return getattr(importlib.import_module(f"rlk_wrappers.{_HOMES.get(name, 'results')}"), name)
