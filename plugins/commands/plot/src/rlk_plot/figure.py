"""Learning curves as an image: one panel per environment, one colour per algorithm and settings."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from rlk.files import replacing, users_path
from rlk.records import Array
from rlk_plot.curves import Curve, repeated_seeds, rolling_mean, shared_evaluations, spread
from rlk_plot.groups import groups_of, panels_of, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Colours of the Okabe-Ito palette, which most colour-blind people can distinguish.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: A line averages over this many episodes if there are enough, as in Stable Baselines' plots.
WINDOW = 100
PANEL_INCHES = (8.0, 4.5)
_DOTS = 150
#: Lines and markers of the groups that have the colours for the first, second, … time.
LINES, MARKERS = ("-", "--", ":", "-."), ("D", "s", "o", "^")
#: So many groups of a panel can be told apart.
LOOKS = len(COLOURS) * len(LINES)
#: The part of the figure's width that a panel has at least.
_PANEL_WIDTH = 0.85
#: From the bottom of a panel to its legend: below the numbers of the axis and what it shows.
_LEGEND_INCHES = 0.5
_LEGEND: Mapping[str, Any] = {
    "frameon": True,
    "framealpha": 0.85,
    "edgecolor": "none",
    "fontsize": 9,
}
#: More dots than these are pixels, not shapes, in a .svg or .pdf.
_SHAPES = 5000
#: At most as many dots are drawn: more would hide the line of their mean.
_SHOWN = 20_000
#: Among more episodes than these no place is free for a legend, which matplotlib searches for long.
_SEARCHED = 50_000
#: A title of more characters than these has several lines, and one of more algorithms none.
_TITLE_LINE, _TITLE_ALGOS = 58, 3


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
    drawn.set_size_inches(wide, high * len(by_env) + sum(below))
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


@attrs.frozen
class _Look:
    """How a group is drawn: its colour, its line, and the marker of its evaluations."""

    colour: str
    line: str
    marker: str


def _look(number: int) -> _Look:
    """Of the group with this number in its panel: first the colours differ, then the lines."""
    again, colour = divmod(number % LOOKS, len(COLOURS))
    return _Look(COLOURS[colour], LINES[again], MARKERS[again])


def _shown(text: str) -> str:
    """A text as matplotlib shows it: `$` begins no formula, and a leading `_` hides no entry."""
    text = text.replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text


def _panel(axes: Axes, env: str, curves: Sequence[Curve], x: str, smooth: int | None) -> float:
    """Draw the runs in one environment; returns the inches of the legend below them."""
    groups = groups_of(curves)
    unit, scale = unit_of(x, curves)
    window = smooth or _window(curves)
    for number, (label, members) in enumerate(groups):
        # With a single group, the entries of the legend need no name.
        label = f"{_shown(label)}: " if len(groups) > 1 else ""
        look = _look(number)
        if len(members) == 1:
            _one(axes, members[0], label, look, x, scale, window)
        else:
            _several(axes, members, label, look, x, scale, window)
    axes.set_title(_shown(_title(env, curves)), loc="left", fontsize=13, fontweight="bold")
    axes.set_xlabel(f"time [{unit}]" if x == "time" else unit, fontsize=11)
    axes.set_ylabel("return (sum of an episode's rewards)", fontsize=11)
    episodes = sum(len(curve.returns) for curve in curves)
    return _dress(axes, x, crowded=len(groups) > 1 or episodes > _SEARCHED)


def _title(env: str, curves: Sequence[Curve]) -> str:
    """The algorithms and their environment, or what is known of them if it is short enough."""
    algos = list(dict.fromkeys(curve.algo for curve in curves))
    if len(algos) > _TITLE_ALGOS:
        title = env or f"{len(curves)} runs"
    else:
        title = f"{', '.join(algos)} on {env}" if env else ", ".join(algos)
    if len(curves) == 1 and curves[0].seed is not None:
        title += f", seed {curves[0].seed}"
    words = (shortened(word, _TITLE_LINE) for word in title.split())
    return textwrap.fill(" ".join(words), _TITLE_LINE, break_on_hyphens=False)


def _one(
    axes: Axes, curve: Curve, label: str, look: _Look, x: str, scale: float, window: int
) -> None:
    """Draw episodes faintly (`_SHOWN` at most), their rolling mean, and the evaluations."""
    where = curve.x(x) / scale
    if not curve.smoothed:
        size = float(np.clip(2000.0 / len(where), 2.0, 14.0))
        every = -(-len(where) // _SHOWN)
        axes.scatter(
            where[::every],
            curve.returns[::every],
            s=size,
            color=look.colour,
            alpha=0.35,
            linewidths=0,
            rasterized=len(where) > _SHAPES,
            # With several groups, the colour of the dots is enough.
            label=None if label else f"one of {every} episodes" if every > 1 else "episodes",
        )
    last = "the last " if curve.smoothed else ""
    episodes = _averaged(curve, window)
    over = f"mean of {last}{episodes} episodes" if episodes > 1 else "each episode"
    mean = _smoothed(curve, window)
    _line(axes, where, mean, look, linewidth=2.0, label=f"{label}{over}")
    if len(curve.evaluations):
        _evaluations(
            axes, curve.evaluated(x) / scale, curve.evaluations, look, f"{label}evaluations"
        )


def _several(
    axes: Axes,
    curves: Sequence[Curve],
    label: str,
    look: _Look,
    x: str,
    scale: float,
    window: int,
) -> None:
    """Draw every run's rolling mean faintly, their mean, and one standard deviation around it."""
    lines = []
    for curve in curves:
        lines.append((curve.x(x) / scale, _smoothed(curve, window)))
        _line(axes, *lines[-1], attrs.evolve(look, line="-"), alpha=0.25, linewidth=0.8)
    where, mean, deviation = spread(lines)
    axes.fill_between(
        where, mean - deviation, mean + deviation, color=look.colour, alpha=0.18, linewidth=0
    )
    episodes = sorted({_averaged(curve, window) for curve in curves})
    over = f" and {' or '.join(map(str, episodes))} episodes" if episodes != [1] else ""
    seeds = len({curve.seed for curve in curves})
    of = f" of {seeds} {'seed' if seeds == 1 else 'seeds'}" if repeated_seeds(curves) else ""
    over = f"{label}mean of {len(curves)} runs{of}{over} ± std"
    _line(axes, where, mean, look, linewidth=2.2, label=over)
    evaluated = [curve for curve in curves if len(curve.evaluations)]
    if evaluated:
        at, means = shared_evaluations(evaluated, x)
        if len(at):
            _evaluations(
                axes,
                at / scale,
                means,
                look,
                f"{label}evaluations, mean of {len(evaluated)} of {len(curves)} runs",
            )


def _line(axes: Axes, where: Array, values: Array, look: _Look, **style: Any) -> None:
    """Draw a line; a single point, through which no line can be seen, is drawn as a dot."""
    is_point = np.isfinite(values).sum() == 1
    marker = "o" if is_point else ""
    axes.plot(where, values, color=look.colour, linestyle=look.line, marker=marker, **style)


def _evaluations(axes: Axes, where: Array, means: Array, look: _Look, label: str) -> None:
    marker: dict[str, Any] = {
        "marker": look.marker,
        "markersize": 5,
        "markeredgecolor": look.colour,
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


def unit_of(x: str, curves: Sequence[Curve]) -> tuple[str, float]:
    """The unit of the horizontal axis of these runs, and what its numbers are divided by."""
    if x != "time":
        return x, 1.0
    seconds = max(float(curve.seconds[-1]) for curve in curves)
    if seconds > 2 * 3600:
        return "h", 3600.0
    return ("min", 60.0) if seconds > 120 else ("s", 1.0)


def _dress(axes: Axes, x: str, *, crowded: bool) -> float:
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
    legend: Any = _legend_below(axes) if crowded else axes.legend(loc="best", **_LEGEND)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
    return legend.get_window_extent().height / axes.figure.dpi if crowded else 0.0


def _legend_below(axes: Axes) -> Any:
    """The legend below the panel, with as few lines as leave the panel its width."""
    from matplotlib.transforms import ScaledTranslation

    below = ScaledTranslation(0.0, -_LEGEND_INCHES, axes.figure.dpi_scale_trans)
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (0.0, 0.0)}
    place["bbox_transform"] = axes.transAxes + below
    handles, labels = axes.get_legend_handles_labels()
    in_two_lines = [":\n    ".join(label.rsplit(": ", 1)) for label in labels]
    for columns, entries in ((2, labels), (1, labels), (1, in_two_lines)):
        legend: Any = axes.legend(handles, entries, ncols=columns, **place, **_LEGEND)
        if legend.get_window_extent().width <= _PANEL_WIDTH * axes.figure.bbox.width:
            break
    return legend
