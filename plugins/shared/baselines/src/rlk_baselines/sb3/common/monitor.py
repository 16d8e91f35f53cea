"""`Monitor` with Gymnasium's interface, and functions that find and read its files."""

from typing import Any

from rlk_baselines.bench.monitor import get_monitor_files, load_results
from rlk_baselines.sb3.elsewhere import not_here
from rlk_wrappers import LoadMonitorResultsError
from rlk_wrappers.stable_baselines import Monitor

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
