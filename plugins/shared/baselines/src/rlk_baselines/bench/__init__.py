"""`Monitor`, and functions that find and read its files."""

from rlk_baselines.bench.monitor import Monitor, get_monitor_files, load_results

__all__ = ["Monitor", "get_monitor_files", "load_results"]
