"""The image: which runs belong together, and that there is something in it."""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from click.testing import CliRunner
from matplotlib.figure import Figure
from PIL import Image

from rlk_plot import figure
from rlk_plot.command import plot
from rlk_plot.curves import read_run
from rlk_testing.tools.command_line import ended

Make = Callable[..., Path]
RISING = [(float(i), 10, i / 10) for i in range(1, 60)]

ONE_ROW = (
    "time/total_timesteps,time/episodes,time/time_elapsed,rollout/ep_rew_mean\n200,10,1.0,21.5\n"
)


def called(*arguments: object) -> Any:
    return CliRunner().invoke(plot, [str(argument) for argument in arguments])


def colours(path: Path) -> set[tuple[int, int, int]]:
    """The saturated colours in an image."""
    with Image.open(path) as image:
        pixels = np.asarray(image.convert("RGB")).reshape(-1, 3)
    return {tuple(int(c) for c in p) for p in pixels[np.ptp(pixels, axis=1) > 100]}


@pytest.mark.parametrize(
    ("length", "runs"), [*((length, 1) for length in range(16, 27)), (60, 1), (60, 2)]
)
def test_a_legend_of_long_names_leaves_the_panel_its_width(
    tmp_path: Path, run_folder: Make, length: int, runs: int
) -> None:
    """Entries have 20 characters more than these names, or 40 where a name is of several runs."""
    curves = [
        attrs.evolve(
            read_run(run_folder(tmp_path / name, RISING, evaluated={100: [3.0]})),
            settings={f"setting{i}": name for i in range(4)},
        )
        for name in (f"{number}{'n' * (length - len('dqn (0)'))}" for number in range(4))
        for _ in range(runs)
    ]
    drawn: Any = figure.figure(curves)
    drawn.canvas.draw()
    (axes,) = drawn.axes
    assert axes.get_position().width > 0.85
    assert axes.get_position().height > 0.4
    legend = axes.get_legend().get_window_extent()
    assert legend.x1 <= drawn.bbox.width and legend.y0 >= 0


def test_lines_and_markers_tell_groups_apart_where_colours_repeat(
    tmp_path: Path, run_folder: Make
) -> None:
    run = read_run(run_folder(tmp_path, RISING, evaluated={100: [3.0]}))
    curves = [attrs.evolve(run, settings={"rate": rate}) for rate in range(figure.LOOKS)]
    curves += [attrs.evolve(run, settings={"rate": 7})]  # whose mean is drawn like a single run
    drawn: Any = figure.figure(curves)
    means = [line for line in drawn.axes[0].lines if " episodes" in str(line.get_label())]
    assert len(means) == len({(line.get_color(), line.get_linestyle()) for line in means}) == 28
    assert means[7].get_color() == means[0].get_color()
    evaluations = [line for line in drawn.axes[0].lines if "evalu" in str(line.get_label())]
    looks = {(line.get_markeredgecolor(), line.get_marker()) for line in evaluations}
    assert len(evaluations) == len(looks) == 28


@pytest.mark.parametrize(
    ("algos", "env", "title"),
    [
        ("dqn a2c ppo2", "CartPole-v1", "dqn, a2c, ppo2 on CartPole-v1"),
        ("dqn a2c ppo2 acer", "CartPole-v1", "CartPole-v1"),
        ("dqn a2c ppo2 acer", "", "4 runs"),
        ("dqn", f"robots:{'n' * 50}-v0", f"dqn on\nrobots:{'n' * 21}…{'n' * 25}-v0,\nseed 1"),
    ],
)
def test_a_title_fits_into_the_image(
    tmp_path: Path, run_folder: Make, algos: str, env: str, title: str
) -> None:
    run = read_run(run_folder(tmp_path, RISING))
    curves = [attrs.evolve(run, algo=algo, env=env) for algo in algos.split()]
    drawn: Any = figure.figure(curves)
    (axes,) = drawn.axes
    assert axes.get_title(loc="left") == title
    drawn.canvas.draw()
    assert axes.get_position().width > 0.85


@pytest.mark.parametrize(("episodes", "kilobytes"), [(4_000, 1500), (20_000, 800)])
def test_many_episodes_are_pixels_in_a_drawing_of_shapes(
    tmp_path: Path, run_folder: Make, episodes: int, kilobytes: int
) -> None:
    run = read_run(run_folder(tmp_path, [(float(i % 100), 1, i) for i in range(episodes)]))
    figure.draw([run], tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    assert ("<image" in text) == (episodes > 5000)
    assert len(text) < kilobytes * 1000


@pytest.mark.parametrize("most", [58, 59])
def test_no_place_for_the_legend_is_searched_among_very_many_episodes(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """With a million episodes, matplotlib would search three times as long as it draws."""
    monkeypatch.setattr(figure, "_SEARCHED", most)
    drawn: Any = figure.figure([read_run(run_folder(tmp_path, RISING))])
    drawn.canvas.draw()
    (axes,) = drawn.axes
    legend = axes.get_legend().get_window_extent()
    assert (legend.y1 < axes.bbox.y0) == (len(RISING) > most)
    assert legend.y0 >= 0


@pytest.mark.parametrize(
    ("most", "count", "label"), [(59, 59, "episodes"), (58, 30, "one of 2 episodes")]
)
def test_dots_show_as_many_episodes_as_leave_the_mean_visible(
    tmp_path: Path,
    run_folder: Make,
    monkeypatch: pytest.MonkeyPatch,
    most: int,
    count: int,
    label: str,
) -> None:
    monkeypatch.setattr(figure, "_SHOWN", most)
    drawn: Any = figure.figure([read_run(run_folder(tmp_path, RISING))])
    (dots,), (mean,) = drawn.axes[0].collections, drawn.axes[0].lines
    assert (len(dots.get_offsets()), dots.get_label()) == (count, label)
    assert len(mean.get_xdata()) == len(RISING)


def test_a_notebook_displays_the_figure_as_an_image(tmp_path: Path, run_folder: Make) -> None:
    curves = [read_run(str(run_folder(tmp_path / "run", RISING)))]
    shown: Any = figure.figure(curves, smooth=5)
    labels = shown.axes[0].get_legend_handles_labels()[1]
    assert labels == ["episodes", "mean of 5 episodes"]
    (tmp_path / "shown.png").write_bytes(shown._repr_png_())
    assert colours(tmp_path / "shown.png")
    figure.draw(curves, str(tmp_path / "drawn.png"), smooth=5)
    assert colours(tmp_path / "drawn.png")


def test_names_are_shown_as_they_are(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `$` begins no formula, and a leading `_` hides no entry of the legend."""
    shown: list[str] = []

    def dressed(axes: Any, x: str, *, crowded: bool) -> int:
        shown.extend([axes.get_title(loc="left"), *axes.get_legend_handles_labels()[1]])
        return real(axes, x, crowded=crowded)

    real = figure._dress
    monkeypatch.setattr(figure, "_dress", dressed)
    folders = [run_folder(tmp_path / name, RISING) for name in ("_$a_", "b$^{")]
    for folder in folders:
        (folder / "plan.json").unlink()
    found = called(*folders, "--out", tmp_path / "all.png")
    assert found.exit_code == 0, found.output
    assert shown == [
        r" _\$a_, b\$^{ on CartPole-v1",
        r" _\$a_: mean of 2 episodes",
        r"b\$^{: mean of 2 episodes",
    ]


def test_one_run_is_drawn_into_its_own_folder(tmp_path: Path, run_folder: Make) -> None:
    folder = run_folder(tmp_path / "a", RISING, evaluated={100: [3.0], 400: [30.0]})
    result = called(folder)
    assert result.exit_code == 0, result.output
    path = folder / "learning_curve.png"
    assert result.output == f"wrote {path}\n"
    with Image.open(path) as image:
        assert image.size == (1200, 675)
    assert (0, 114, 178) in colours(path)  # the first colour, #0072B2


@pytest.mark.parametrize("seeds", [1, 2])
def test_a_run_with_a_single_row_is_seen(
    tmp_path: Path, run_folder: Make, seeds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure, "_dress", lambda *_, **__: 0)  # the legend has the colour as well
    for seed in range(seeds):
        folder = run_folder(tmp_path / str(seed), [], seed=seed)
        (folder / "monitor.csv").unlink()
        (folder / "progress.csv").write_text(ONE_ROW)
    out = tmp_path / "curve.png"
    assert called(*map(str, tmp_path.iterdir()), "--out", out).exit_code == 0
    assert (0, 114, 178) in colours(out)


def test_an_image_that_cannot_be_drawn_again_stays_as_it_was(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(figure: Figure, file: Any, **settings: Any) -> None:
        file.write(b"half an image")
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "curve.png"
    assert called(run_folder(tmp_path / "a", RISING), "--out", out).exit_code == 0
    before = out.read_bytes()
    monkeypatch.setattr(Figure, "savefig", break_off)
    assert called(tmp_path / "a", "--out", out).exit_code == 1
    assert out.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == [tmp_path / "a", out]


def test_several_runs_are_drawn_here(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [
        run_folder(tmp_path / "a", RISING, seed=1, evaluated={100: [3.0], 400: [30.0]}),
        run_folder(tmp_path / "b", RISING[:30], seed=2, evaluated={100: [5.0]}),
        run_folder(tmp_path / "c", RISING, algo="ppo2"),
    ]
    monkeypatch.chdir(tmp_path)
    result = called(*folders)
    assert result.output == "wrote learning_curves.png\n"
    assert {(0, 114, 178), (213, 94, 0)} <= colours(tmp_path / "learning_curves.png")


def test_every_environment_has_a_panel(tmp_path: Path, run_folder: Make) -> None:
    folders = [
        run_folder(tmp_path / "a", RISING),
        run_folder(tmp_path / "b", RISING, env="Acrobot-v1"),
    ]
    out = tmp_path / "curves.png"
    assert called(*folders, "--out", out).exit_code == 0
    with Image.open(out) as image:
        assert image.size == (1200, 2 * 675)


@pytest.mark.parametrize("axis", ["timesteps", "episodes", "time"])
def test_every_axis_can_be_drawn(
    tmp_path: Path, run_folder: Make, axis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Any] = []
    dress = figure._dress

    def watch(axes: Any, x: str, **settings: Any) -> Any:
        rows = dress(axes, x, **settings)
        drawn.append((axes.get_xlabel(), axes.get_title(loc="left"), axes.lines[0].get_xdata()[-1]))
        return rows

    monkeypatch.setattr(figure, "_dress", watch)
    folder = run_folder(tmp_path / "a", RISING, evaluated={100: [3.0]})
    assert called(folder, "--x", axis, "--out", tmp_path / "a.svg").exit_code == 0
    label = {"timesteps": "timesteps", "episodes": "episodes", "time": "time [s]"}[axis]
    last = {"timesteps": 590.0, "episodes": 59.0, "time": 5.9}[axis]
    assert drawn == [(label, "dqn on CartPole-v1, seed 1", last)]


def test_smoothing_can_be_set(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines: list[Any] = []
    dress = figure._dress

    def watch(axes: Any, x: str, **settings: Any) -> Any:
        rows = dress(axes, x, **settings)
        lines.append(axes.lines[0])
        return rows

    monkeypatch.setattr(figure, "_dress", watch)
    folder = run_folder(tmp_path / "a", RISING)
    called(folder, "--smooth", 10)
    assert lines[0].get_label() == "mean of 10 episodes"
    assert lines[0].get_ydata()[-1] == np.mean([r for r, _, _ in RISING[-10:]])


def test_all_runs_of_a_panel_are_averaged_over_as_many_episodes_as_the_legend_says(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A twentieth of the episodes of the shortest run, which is of another algorithm."""
    lines: list[Any] = []
    dress = figure._dress

    def watch(axes: Any, x: str, **settings: Any) -> Any:
        lines.extend(axes.lines)
        return dress(axes, x, **settings)

    monkeypatch.setattr(figure, "_dress", watch)
    returns = np.arange(100.0)
    folders = [
        run_folder(tmp_path / name, [(r, 10, r) for r in returns[:length]], seed=length, algo=algo)
        for name, algo, length in (("a", "dqn", 100), ("b", "dqn", 80), ("c", "ppo2", 60))
    ]
    assert called(*folders, "--out", tmp_path / "all.png").exit_code == 0
    first, second, mean, other = lines
    assert [line.get_ydata()[-1] for line in (first, second, other)] == [98.0, 78.0, 58.0]
    assert mean.get_label() == "dqn: mean of 2 runs and 3 episodes ± std"
    assert other.get_label() == "ppo2: mean of 3 episodes"
    rows = [read_run(folder) for folder in folders[:2]]
    rows = [attrs.evolve(one, smoothed=True, settings={"stats_window_size": 5}) for one in rows]
    figure.draw(rows, tmp_path / "rows.png")
    assert lines[-1].get_label() == "mean of 2 runs and 5 episodes ± std"
    figure.draw(rows[:1], tmp_path / "row.png")
    assert lines[-1].get_label() == "mean of the last 5 episodes"


def test_seeds_are_drawn_with_their_mean_its_spread_and_their_evaluations(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two runs of 3 minutes, in which the second has returns that are larger by 2."""
    drawn: list[Any] = []
    dress = figure._dress

    def watch(axes: Any, x: str, **settings: Any) -> Any:
        drawn.append(axes)
        return dress(axes, x, **settings)

    monkeypatch.setattr(figure, "_dress", watch)
    for seed in (0, 1):
        episodes = [(float(i + 2 * seed), 10, 60.0 * i) for i in range(1, 4)]
        run_folder(tmp_path / str(seed), episodes, seed=seed, evaluated={20: [5.0 + seed]})
    runs, how = [tmp_path / name for name in ("0", "1", "0")], ["--x", "time", "--smooth", 2]
    found = called(*runs, *how, "--out", tmp_path / "all.PNG")
    assert found.exit_code == 0, found.output
    (axes,) = drawn
    assert axes.get_xlabel() == "time [min]"
    first, second, mean, evaluations = [line.get_data() for line in axes.lines]
    assert [one.tolist() for one in first] == [[1.0, 2.0, 3.0], [1.0, 1.5, 2.5]]
    assert second[1].tolist() == [3.0, 3.5, 4.5]
    assert mean[1][0] == 2.0 and mean[1][-1] == 3.5
    assert [one.tolist() for one in evaluations] == [[2.0], [5.5]]
    (around,) = axes.collections
    corners = around.get_paths()[0].vertices
    assert {y for x, y in corners.tolist() if x == 1.0} == {1.0, 3.0}
    assert called(runs[0], *how).exit_code == 0
    _, evaluations = [line.get_data() for line in drawn[1].lines]
    assert [one.tolist() for one in evaluations] == [[2.0], [5.0]]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ([], 2, "RUN"),
        (["{tmp}/nowhere"], 1, "does not exist"),
        (["{tmp}"], 1, "is not a run folder"),
        (["{tmp}"], 1, "It holds run folders. Type: rlk plot {tmp}/*"),
        (["{tmp}/empty"], 1, "no episode has ended"),
        (["{tmp}/a", "--out", "{tmp}/a.xyz"], 1, ".xyz is no kind of image. Let it end in .png,"),
        (["{tmp}/a", "--out", "{tmp}/curve"], 1, "could not write {tmp}/curve: its name has no"),
        (["{tmp}/a", "--x", "steps"], 2, "timesteps"),
    ],
)
def test_what_is_refused_says_why(
    tmp_path: Path,
    run_folder: Make,
    arguments: list[str],
    code: int,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_folder(tmp_path / "a", RISING)
    run_folder(tmp_path / "empty", [])
    assert ended("plot", *[argument.format(tmp=tmp_path) for argument in arguments]) == code
    text = capsys.readouterr().err
    assert says.format(tmp=tmp_path) in text
    assert "Traceback" not in text
