"""`results_plotter`: where episodes are on each axis, and which of them are drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from rlk_baselines import results_plotter
from rlk_baselines.bench import Monitor


def test_every_axis_has_the_returns_where_their_episodes_ended() -> None:
    table = {"r": [1, 2, 4], "l": [5, 6, 7], "t": [1800, 3600, 7200]}
    for axis, expected in (
        (results_plotter.X_TIMESTEPS, [5, 11, 18]),
        (results_plotter.X_EPISODES, [0, 1, 2]),
        (results_plotter.X_WALLTIME, [0.5, 1, 2]),
    ):
        x, y = results_plotter.ts2xy(table, axis)
        assert (x.tolist(), y.tolist()) == (expected, [1, 2, 4])
    with pytest.raises(NotImplementedError, match=r"xaxis is one of .*, got 'miles'"):
        results_plotter.ts2xy(table, "miles")


@pytest.mark.parametrize(
    ("last", "dots", "means"), [(None, 101, [100, 101]), (100, 100, [100]), (99, 99, None)]
)
def test_episodes_up_to_a_timestep_are_drawn_and_means_of_a_hundred(
    counting: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    last: int | None,
    dots: int,
    means: list[int] | None,
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    env = Monitor(counting(1), str(tmp_path))
    for _ in range(101):
        env.reset()
        env.step(0)
    results_plotter.plot_results([str(tmp_path)], last, results_plotter.X_TIMESTEPS, "title")
    axes = pyplot.gcf().axes[0]
    assert len(axes.collections[0].get_offsets()) == dots and axes.get_xlim() == (0, dots)
    assert [one.get_xdata().tolist() for one in axes.lines] == ([] if means is None else [means])
    pyplot.close()
