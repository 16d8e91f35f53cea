"""Learning curves as an image: one panel per environment, one colour per algorithm and settings."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rlk.files import replacing, users_path
from rlk.records import Array
from rlk_plot.curves import Curve, repeated_seeds, rolling_mean, shared_evaluations, spread

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of the Okabe-Ito palette, which most colour-blind people can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A line averages over this many episodes if there are enough, as in Stable Baselines' plots.
WINDOW = 100
PANEL_INCHES = (8.0, 4.5)
_DOTS = 150
#: Runs for which these are equal differ only in their seed.
_ALIKE = ("algo", "components", "settings")
#: Longest name of a group, and longest entry of a legend with two columns, in characters.
_LABEL, _HALF = 60, 45
#: Height of a row of the legend.
_ROW_INCHES = 0.2


def figure(curves: Sequence[Curve], *, x: str = "timesteps", smooth: int | None = None) -> Figure:
    """The figure of these runs, which a notebook shows where it ends a cell.

    Args:
        curves: one or several runs; runs that differ only in their seed are drawn as mean and
            spread.
        x: `timesteps`, `episodes` or `time`.
        smooth: number of episodes in the average of a line; None depends on the number of episodes,
            and is the same for all runs in an environment.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from rlk_plot.displayed import DisplayedFigure

    by_env = panels_of(curves)
    wide, high = PANEL_INCHES
    size = (wide, high * len(by_env))
    drawn = DisplayedFigure(figsize=size, layout="constrained", facecolor="white")
    FigureCanvasAgg(drawn)
    panels = drawn.subplots(len(by_env), 1, squeeze=False)[:, 0]
    below = [
        _panel(panel, env, members, x, smooth)
        for panel, (env, members) in zip(panels, by_env.items(), strict=True)
    ]
    drawn.set_size_inches(wide, high * len(by_env) + _ROW_INCHES * sum(below))
    return drawn


def draw(
    curves: Sequence[Curve],
    path: str | os.PathLike[str],
    *,
    x: str = "timesteps",
    smooth: int | None = None,
) -> None:
    """Write the figure of these runs; all arguments but `path` are those of `figure`.

    Args:
        curves, x, smooth: as there.
        path: the file; its suffix selects the format.

    Raises:
        ValueError: for a suffix that is no format of images, or none; nothing is written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    path = users_path(path)
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FigureCanvasAgg.get_supported_filetypes():
        what = f"{path.suffix} is no kind of image" if kind else "its name has no suffix"
        raise ValueError(f"{what}. Let it end in .png, .svg or .pdf")
    drawn = figure(curves, x=x, smooth=smooth)
    with replacing(path) as file:
        drawn.savefig(file, dpi=_DOTS, format=kind)


def panels_of(curves: Sequence[Curve]) -> dict[str, list[Curve]]:
    """The runs in each environment, by its name."""
    by_env: dict[str, list[Curve]] = {}
    for curve in curves:
        by_env.setdefault(curve.env, []).append(curve)
    return by_env


def groups_of(curves: Sequence[Curve]) -> list[tuple[str, list[Curve]]]:
    """(label, runs) with the same algorithm and settings; labels show how groups differ."""
    groups: list[list[Curve]] = []
    for curve in curves:
        for group in groups:
            if all(getattr(group[0], field) == getattr(curve, field) for field in _ALIKE):
                group.append(curve)
                break
        else:
            groups.append([curve])
    return [(_label(group[0], [other[0] for other in groups]), group) for group in groups]


def _label(curve: Curve, others: Sequence[Curve]) -> str:
    """The algorithm, and how the group differs from others with the same algorithm."""
    alike = [other for other in others if other.algo == curve.algo]
    roles = _differing([other.components for other in alike])
    own = [f"{role}={curve.components[role]}" for role in roles if role in curve.components]
    # Settings of a component that differs between groups are not shown, only its name.
    replaced = {
        name
        for other in alike
        for role in roles
        for name in other.components.get(role, "").split("+")
    }
    for key in _differing([other.settings for other in alike]):
        if key in curve.settings and key.partition(".")[0] not in replaced:
            own.append(f"{key}={curve.settings[key]}")
    label = " ".join([curve.algo, *own])
    if len(own) > 3 or len(label) > _LABEL:
        label = f"{curve.algo} ({curve.folder.resolve().name})"
    return label if len(label) <= _LABEL else f"{label[: _LABEL - 1]}…"


def _shown(text: str) -> str:
    """A text as matplotlib shows it: `$` begins no formula, and a leading `_` hides no entry."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _differing(found: Sequence[Mapping[str, Any]]) -> list[str]:
    """The keys that are missing or have different values in some of them, sorted."""
    keys = {key for one in found for key in one}
    return sorted(key for key in keys if any(one.get(key) != found[0].get(key) for one in found))


def _panel(axes: Axes, env: str, curves: Sequence[Curve], x: str, smooth: int | None) -> int:
    """Draw the runs in one environment; returns the number of legend rows below them."""
    groups = groups_of(curves)
    unit, seconds = _time_unit(max(float(curve.seconds[-1]) for curve in curves))
    scale = seconds if x == "time" else 1.0
    window = smooth or _window(curves)
    for number, (label, members) in enumerate(groups):
        # With a single group, the entries of the legend need no name.
        label = f"{_shown(label)}: " if len(groups) > 1 else ""
        colour = COLOURS[number % len(COLOURS)]
        if len(members) == 1:
            _one(axes, members[0], label, colour, x, scale, window)
        else:
            _several(axes, members, label, colour, x, scale, window)
    algos = ", ".join(dict.fromkeys(curve.algo for curve in curves))
    title = f"{algos} on {env}" if env else algos
    if len(curves) == 1 and curves[0].seed is not None:
        title += f", seed {curves[0].seed}"
    axes.set_title(_shown(title), loc="left", fontsize=13, fontweight="bold")
    axes.set_xlabel(
        {"timesteps": "timesteps", "episodes": "episodes", "time": f"time [{unit}]"}[x], fontsize=11
    )
    axes.set_ylabel("return (sum of an episode's rewards)", fontsize=11)
    return _dress(axes, x, crowded=len(groups) > 1)


def _one(
    axes: Axes, curve: Curve, label: str, colour: str, x: str, scale: float, window: int
) -> None:
    """Draw every episode faintly, their rolling mean, and the evaluations."""
    where = curve.x(x) / scale
    if not curve.smoothed:
        size = float(np.clip(2000.0 / len(where), 2.0, 14.0))
        axes.scatter(
            where,
            curve.returns,
            s=size,
            color=colour,
            alpha=0.35,
            linewidths=0,
            # With several groups, the colour of the dots is enough.
            label=None if label else "episodes",
        )
    last = "the last " if curve.smoothed else ""
    episodes = _averaged(curve, window)
    over = f"mean of {last}{episodes} episodes" if episodes > 1 else "each episode"
    mean = _smoothed(curve, window)
    _line(axes, where, mean, color=colour, linewidth=2.0, label=f"{label}{over}")
    if len(curve.evaluations):
        _evaluations(
            axes, curve.evaluated(x) / scale, curve.evaluations, colour, f"{label}evaluations"
        )


def _several(
    axes: Axes,
    curves: Sequence[Curve],
    label: str,
    colour: str,
    x: str,
    scale: float,
    window: int,
) -> None:
    """Draw every run's rolling mean faintly, their mean, and one standard deviation around it."""
    lines = []
    for curve in curves:
        lines.append((curve.x(x) / scale, _smoothed(curve, window)))
        _line(axes, *lines[-1], color=colour, alpha=0.25, linewidth=0.8)
    where, mean, deviation = spread(lines)
    axes.fill_between(
        where, mean - deviation, mean + deviation, color=colour, alpha=0.18, linewidth=0
    )
    episodes = sorted({_averaged(curve, window) for curve in curves})
    over = f" and {' or '.join(map(str, episodes))} episodes" if episodes != [1] else ""
    seeds = len({curve.seed for curve in curves})
    of = f" of {seeds} {'seed' if seeds == 1 else 'seeds'}" if repeated_seeds(curves) else ""
    over = f"{label}mean of {len(curves)} runs{of}{over} ± std"
    _line(axes, where, mean, color=colour, linewidth=2.2, label=over)
    evaluated = [curve for curve in curves if len(curve.evaluations)]
    if evaluated:
        at, means = shared_evaluations(evaluated, x)
        if len(at):
            _evaluations(
                axes,
                at / scale,
                means,
                colour,
                f"{label}evaluations, mean of {len(evaluated)} of {len(curves)} runs",
            )


def _line(axes: Axes, where: Array, values: Array, **style: Any) -> None:
    """Draw a line; a single point, through which no line can be seen, is drawn as a dot."""
    is_point = np.isfinite(values).sum() == 1
    axes.plot(where, values, marker="o" if is_point else "", **style)


def _evaluations(axes: Axes, where: Array, means: Array, colour: str, label: str) -> None:
    marker: dict[str, Any] = {
        "marker": "D",
        "markersize": 5,
        "markeredgecolor": colour,
        "markeredgewidth": 1.5,
    }
    axes.plot(where, means, linestyle="none", color="white", label=label, zorder=3, **marker)


def _window(curves: Sequence[Curve]) -> int:
    """Episodes in the average of all of them: a twentieth of those of the shortest, 100 at most."""
    episodes = [len(curve.returns) for curve in curves if not curve.smoothed]
    return int(np.clip(min(episodes, default=0) // 20, 1, WINDOW))


def _smoothed(curve: Curve, window: int) -> Array:
    """float64 [E]: the rolling mean of the returns, which rows of metrics already have."""
    return curve.returns if curve.smoothed else rolling_mean(curve.returns, window)


def _averaged(curve: Curve, window: int) -> int:
    """How many episodes are in each point of its line."""
    return curve.averaged if curve.smoothed else window


def _time_unit(seconds: float) -> tuple[str, float]:
    if seconds > 2 * 3600:
        return "h", 3600.0
    return ("min", 60.0) if seconds > 120 else ("s", 1.0)


def _dress(axes: Axes, x: str, *, crowded: bool) -> int:
    from matplotlib.ticker import EngFormatter, MaxNLocator

    if x != "time":
        axes.xaxis.set_major_formatter(EngFormatter(sep=""))
        axes.xaxis.set_major_locator(MaxNLocator(nbins=8, integer=True, steps=[1, 2, 5, 10]))
    axes.set_xlim(left=0)
    axes.margins(x=0.02)
    axes.grid(True, color="#dddddd", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color("#888888")
    place: dict[str, Any] = {"loc": "best"}
    rows = 0
    if crowded:
        labels = axes.get_legend_handles_labels()[1]
        columns = 2 if max(map(len, labels)) <= _HALF else 1
        rows = -(-len(labels) // columns)
        place = {"loc": "upper left", "bbox_to_anchor": (0.0, -0.14), "ncols": columns}
    legend: Any = axes.legend(frameon=True, framealpha=0.85, edgecolor="none", fontsize=9, **place)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
    return rows
