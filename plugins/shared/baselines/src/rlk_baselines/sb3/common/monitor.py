"""`Monitor` with Gymnasium's interface, and what reads its files."""

from rlk_baselines.bench.monitor import get_monitor_files, load_results
from rlk_wrappers import LoadMonitorResultsError
from rlk_wrappers.stable_baselines import Monitor

__all__ = ["LoadMonitorResultsError", "Monitor", "get_monitor_files", "load_results"]
