"""What is said of several runs: which are left out, share a seed, or end their mean early."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from rlk_plot import figure
from rlk_plot.command import plot
from rlk_testing.tools.command_line import ended

Make = Callable[..., Path]
#: 40 episodes of 10 timesteps and a second.
EPISODES = [(float(i), 10, float(i)) for i in range(1, 41)]


def called(*arguments: object) -> Any:
    return CliRunner().invoke(plot, [str(argument) for argument in arguments])


@pytest.fixture(autouse=True)
def legends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The entries of all legends that are drawn; runs are in the current folder."""
    found: list[str] = []
    dress = figure._dress

    def watch(axes: Any, *arguments: Any, **settings: Any) -> Any:
        found.extend(axes.get_legend_handles_labels()[1])
        return dress(axes, *arguments, **settings)

    monkeypatch.setattr(figure, "_dress", watch)
    monkeypatch.chdir(tmp_path)
    return found


def test_runs_of_one_seed_are_named_and_the_legend_counts_the_seeds(
    run_folder: Make, legends: list[str]
) -> None:
    for name, seed in {"s0": 0, "again": 0, "copy": 0, "s1": 1}.items():
        run_folder(Path(name), EPISODES, seed=seed)
    result = called("s0", "again", "copy", "s1")
    assert result.exit_code == 0, result.output
    (note,) = result.stderr.splitlines()
    assert note.startswith("note: these runs have the same seed, 0: s0, again, copy. They are not")
    assert legends == ["mean of 4 runs of 2 seeds and 2 episodes ± std"]
    called("s0", "copy")
    assert legends[1:] == ["mean of 2 runs of 1 seed and 2 episodes ± std"]


def test_one_seed_with_other_settings_or_in_another_environment_is_no_repetition(
    run_folder: Make,
) -> None:
    for name, settings in {"a": {}, "b": {"rate": 0.5}, "c": {"env": "Acrobot-v1"}}.items():
        run_folder(Path(name), EPISODES, seed=0, **settings)
    assert called("a", "b", "c").stderr == ""


def test_runs_whose_seed_is_not_known_are_not_called_repetitions(
    run_folder: Make, legends: list[str]
) -> None:
    for name in ("1/run", "2/run"):
        run_folder(Path(name), EPISODES)
        Path(name, "plan.json").unlink()
    assert called("1/run", "2/run").stderr == ""
    assert legends == ["mean of 2 runs and 2 episodes ± std"]


def test_runs_that_cannot_be_drawn_are_left_out_and_named(
    run_folder: Make, legends: list[str]
) -> None:
    for seed in (1, 2):
        run_folder(Path(f"s{seed}"), EPISODES, seed=seed)
    run_folder(Path("begun"), [], seed=3)
    run_folder(Path("torn"), EPISODES, seed=4)
    Path("torn/plan.json").write_text("{")
    Path("empty").mkdir()
    result = called("begun", "s1", "empty", "torn", "s2", "begun")
    assert result.exit_code == 0, result.output
    assert result.stdout == "wrote learning_curves.png\n"
    begins = [line[:37] for line in result.stderr.splitlines()]
    assert begins == [
        "note: not drawn: begun has nothing to",
        "note: not drawn: empty is not a run f",
        "note: not drawn: torn/plan.json is da",
    ]
    assert legends == ["mean of 2 runs and 2 episodes ± std"]


def test_runs_that_do_not_count_episodes_are_left_out_of_an_axis_of_episodes(
    run_folder: Make, legends: list[str]
) -> None:
    run_folder(Path("s1"), EPISODES)
    Path("PPO_1").mkdir()
    rows = "rollout/ep_rew_mean,time/total_timesteps,time/time_elapsed\n1.5,200,20\n2.5,400,40\n"
    Path("PPO_1/progress.csv").write_text(rows)
    assert called("s1", "PPO_1").stderr == ""
    assert legends == ["episodes", "mean of 2 episodes", "mean of the last 100 episodes"]
    note = called("s1", "PPO_1", "--x", "episodes").stderr
    assert note.startswith("note: not drawn: PPO_1 does not count its episodes")
    assert legends[3:] == ["episodes", "mean of 2 episodes"]


def test_where_one_of_several_runs_is_left_it_is_drawn_where_several_are(
    run_folder: Make,
) -> None:
    run_folder(Path("s1"), EPISODES)
    run_folder(Path("begun"), [])
    assert called("s1", "begun").stdout == "wrote learning_curves.png\n"
    assert not Path("s1/learning_curve.png").exists()


def test_if_none_can_be_drawn_all_reasons_are_said(
    run_folder: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    run_folder(Path("begun"), [])
    Path("empty").mkdir()
    assert ended("plot", "begun", "empty") == 1
    said = capsys.readouterr().err
    assert "begun has nothing to draw" in said
    assert "empty is not a run folder" in said
    assert not Path("learning_curves.png").exists()


def test_a_name_of_nothing_among_several_runs_is_an_error(
    run_folder: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    run_folder(Path("s1"), EPISODES)
    assert ended("plot", "s1", "nowhere") == 1
    assert "nowhere does not exist" in capsys.readouterr().err
    assert not Path("learning_curves.png").exists()


@pytest.mark.parametrize(
    ("axis", "end"),
    [
        ("timesteps", "40 timesteps, although their median is 400"),
        ("episodes", "4 episodes, although their median is 40"),
        ("time", "4 s, although their median is 40"),
    ],
)
def test_a_run_that_ends_the_mean_of_the_others_early_is_named(
    run_folder: Make, axis: str, end: str
) -> None:
    for seed, (name, length) in enumerate({"s1": 40, "short": 4, "s2": 40}.items()):
        run_folder(Path(name), EPISODES[:length], seed=seed)
    result = called("s1", "short", "s2", "--x", axis)
    assert result.exit_code == 0, result.output
    (note,) = result.stderr.splitlines()
    assert note.startswith(f"note: the mean of 3 runs ends at {end}, because of short. To see")


def test_the_end_of_a_mean_is_told_in_the_unit_of_the_axis(run_folder: Make) -> None:
    """Also where the longest run, which decides the unit, is not in the mean."""
    for seed, (name, hours) in enumerate({"s1": 1.5, "short": 0.25, "s2": 1.5}.items()):
        run_folder(Path(name), [(1.0, 10, 3600 * hours)], seed=seed)
    run_folder(Path("long"), [(1.0, 10, 3600 * 3.0)], algo="ppo2")
    (note,) = called("s1", "short", "s2", "long", "--x", "time").stderr.splitlines()
    assert "ends at 0.25 h, although their median is 1.5, because of short." in note


def test_a_run_that_is_as_long_as_half_of_the_median_is_not_named(run_folder: Make) -> None:
    for seed, length in enumerate((40, 20, 40)):
        run_folder(Path(f"s{seed}"), EPISODES[:length], seed=seed)
    assert called("s0", "s1", "s2").stderr == ""


def test_more_curves_in_a_panel_than_looks_are_named(run_folder: Make) -> None:
    names = [str(number) for number in range(figure.LOOKS + 1)]
    for number, name in enumerate(names):
        run_folder(Path(name), EPISODES, rate=0.1 + number)
    assert called(*names[1:]).stderr == ""
    (note,) = called(*names).stderr.splitlines()
    assert note.startswith("note: 29 curves on CartPole-v1 are more than the 28 looks that a panel")
