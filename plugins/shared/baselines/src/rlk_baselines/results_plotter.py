"""Plots learning curves from monitor files with matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rlk.records import Array
from rlk_baselines.bench.monitor import load_results

__all__ = [
    "COLORS",
    "EPISODES_WINDOW",
    "POSSIBLE_X_AXES",
    "X_EPISODES",
    "X_TIMESTEPS",
    "X_WALLTIME",
    "load_results",
    "main",
    "plot_curves",
    "plot_results",
    "rolling_window",
    "ts2xy",
    "window_func",
]

X_TIMESTEPS = "timesteps"
X_EPISODES = "episodes"
X_WALLTIME = "walltime_hrs"
POSSIBLE_X_AXES = [X_TIMESTEPS, X_EPISODES, X_WALLTIME]
EPISODES_WINDOW = 100
#: The Okabe-Ito palette, which most colour-blind people can tell apart.
COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]


def rolling_window(array: Array, window: int) -> Array:
    """All windows along the last axis: [..., E] becomes [..., E - window + 1, window], a view."""
    return np.lib.stride_tricks.sliding_window_view(array, window, axis=-1)


def window_func(
    var_1: Array, var_2: Array, window: int, func: Callable[..., Any]
) -> tuple[Array, Array]:
    """Apply a function to every window of values.

    Args:
        var_1: [E], the positions of the values on the horizontal axis.
        var_2: [E], the values.
        window: the number of values per window.
        func: a function with an argument `axis`, such as `np.mean`.

    Returns:
        The position at which each window ends, and the result for it, both [E - window + 1].
    """
    return var_1[window - 1 :], func(rolling_window(var_2, window), axis=-1)


def ts2xy(timesteps: Any, xaxis: str) -> tuple[Array, Array]:
    """The positions of E episodes on the horizontal axis, and their returns: both [E].

    Args:
        timesteps: the DataFrame that `load_results` returned.
        xaxis: `X_TIMESTEPS`, `X_EPISODES` or `X_WALLTIME` (hours).

    Raises:
        NotImplementedError: for another axis.
    """
    returns: Array = np.asarray(timesteps["r"])
    if xaxis == X_TIMESTEPS:
        return np.cumsum(np.asarray(timesteps["l"])), returns
    if xaxis == X_EPISODES:
        return np.arange(len(returns)), returns
    if xaxis == X_WALLTIME:
        return np.asarray(timesteps["t"]) / 3600.0, returns
    raise NotImplementedError(f"xaxis is one of {POSSIBLE_X_AXES}, got {xaxis!r}")


def plot_curves(
    xy_list: Sequence[tuple[Array, Array]],
    xaxis: str,
    title: str,
    figsize: tuple[float, float] = (8, 4.5),
) -> Any:
    """Plot episodes as dots, and their moving average over 100 episodes as a line.

    Args:
        xy_list: the result of `ts2xy` for every folder.
        xaxis: the label of the horizontal axis.
        title: the title.
        figsize: width and height of the figure in inches.

    Returns:
        The new figure.
    """
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=figsize)
    last = max((float(x[-1]) for x, _ in xy_list if len(x)), default=0.0)
    for i, (x, y) in enumerate(xy_list):
        colour = COLORS[i % len(COLORS)]
        pyplot.scatter(x, y, s=2, color=colour)
        if len(x) >= EPISODES_WINDOW:
            pyplot.plot(*window_func(x, y, EPISODES_WINDOW, np.mean), color=colour)
    if last > 0:
        pyplot.xlim(0, last)
    pyplot.title(title)
    pyplot.xlabel(xaxis)
    pyplot.ylabel("Episode Rewards")
    pyplot.tight_layout()
    return figure


def plot_results(
    dirs: Sequence[str],
    num_timesteps: float | None,
    xaxis: str,
    task_name: str,
    figsize: tuple[float, float] = (8, 4.5),
) -> None:
    """Plot the learning curves of folders with monitor files in a new figure.

    `pyplot.show()` shows it.

    Args:
        dirs: the folders.
        num_timesteps: the timestep at which each curve ends; None plots all episodes.
        xaxis: `X_TIMESTEPS`, `X_EPISODES` or `X_WALLTIME` (hours).
        task_name: the title.
        figsize: width and height of the figure in inches.
    """
    curves = []
    for folder in dirs:
        episodes = load_results(folder)
        if num_timesteps is not None:
            episodes = episodes[episodes.l.cumsum() <= num_timesteps]
        curves.append(ts2xy(episodes, xaxis))
    plot_curves(curves, xaxis, task_name, figsize)


def main() -> None:
    """Plot folders with monitor files, and show or save it (`-m rlk_baselines.results_plotter`)."""
    import argparse

    from matplotlib import pyplot

    parser = argparse.ArgumentParser(description="Draw the returns of monitor files.")
    parser.add_argument("--dirs", nargs="*", default=["./log"], help="folders with monitor files")
    parser.add_argument("--num_timesteps", type=int, default=int(10e6), help="where to end")
    parser.add_argument("--xaxis", default=X_TIMESTEPS, choices=POSSIBLE_X_AXES)
    parser.add_argument("--task_name", default="Breakout", help="the title")
    parser.add_argument("--save", help="a file to write the figure to, instead of showing it")
    options = parser.parse_args()
    plot_results(options.dirs, options.num_timesteps, options.xaxis, options.task_name)
    if options.save:
        pyplot.savefig(options.save)
    else:
        pyplot.show()


if __name__ == "__main__":
    main()
