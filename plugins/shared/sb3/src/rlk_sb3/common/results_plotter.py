"""Plots learning curves from monitor files.

Shapes: E episodes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rlk.records import Array
from rlk_baselines import results_plotter
from rlk_baselines.results_plotter import (
    EPISODES_WINDOW,
    POSSIBLE_X_AXES,
    X_EPISODES,
    X_TIMESTEPS,
    X_WALLTIME,
    load_results,
    rolling_window,
    window_func,
)

__all__ = [
    "EPISODES_WINDOW",
    "POSSIBLE_X_AXES",
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


def ts2xy(data_frame: Any, x_axis: str) -> tuple[Array, Array]:
    """The positions of E episodes on the horizontal axis, and their returns: both [E].

    Args:
        data_frame: what `load_results` returned.
        x_axis: `X_TIMESTEPS`, `X_EPISODES` or `X_WALLTIME` (hours).
    """
    return results_plotter.ts2xy(data_frame, x_axis)


def plot_curves(
    xy_list: Sequence[tuple[Array, Array]],
    x_axis: str,
    title: str,
    figsize: tuple[float, float] = (8, 2),
) -> Any:
    """As `plot_curves` of `rlk_baselines.results_plotter`, with the names of Stable-Baselines3."""
    return results_plotter.plot_curves(xy_list, x_axis, title, figsize)


def plot_results(
    dirs: Sequence[str],
    num_timesteps: float | None,
    x_axis: str,
    task_name: str,
    figsize: tuple[float, float] = (8, 2),
) -> None:
    """As `plot_results` of `rlk_baselines.results_plotter`, with the names of Stable-Baselines3."""
    results_plotter.plot_results(dirs, num_timesteps, x_axis, task_name, figsize)
