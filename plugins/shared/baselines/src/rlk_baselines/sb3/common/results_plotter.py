"""Plots learning curves from monitor files."""

from rlk_baselines.results_plotter import (
    X_EPISODES,
    X_TIMESTEPS,
    X_WALLTIME,
    load_results,
    plot_curves,
    plot_results,
    rolling_window,
    ts2xy,
    window_func,
)

__all__ = [
    "X_EPISODES",
    "X_TIMESTEPS",
    "X_WALLTIME",
    "load_results",
    "plot_curves",
    "plot_results",
    "rolling_window",
    "ts2xy",
    "window_func",
]
