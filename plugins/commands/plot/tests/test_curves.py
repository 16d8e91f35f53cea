"""Reading what runs left, and the arithmetic of curves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import rlk
from rlk.errors import BadFile, RlkError
from rlk_plot.curves import (
    folder_of,
    read_run,
    rolling_mean,
    shared_evaluations,
    spread,
)
from rlk_plot.rows import one_count
from rlk_wrappers import results

Make = Callable[..., Path]


def test_episodes_stand_where_their_lengths_add_up_to(tmp_path: Path, run_folder: Make) -> None:
    curve = read_run(run_folder(tmp_path, [(1.0, 10, 0.5), (2.0, 20, 1.0)]))
    assert curve.returns.tolist() == [1.0, 2.0]
    assert curve.x("timesteps").tolist() == [10.0, 30.0]
    assert curve.x("episodes").tolist() == [1.0, 2.0]
    assert curve.x("time").tolist() == [0.5, 1.0]
    assert (curve.algo, curve.env, curve.seed, curve.smoothed) == ("dqn", "CartPole-v1", 1, False)
    assert curve.settings == {"n_envs": 1, "learning_rate": 0.1, "mlp.layers": [64]}


def test_evaluations_are_means_of_their_episodes(tmp_path: Path, run_folder: Make) -> None:
    episodes = [(1.0, 10, 1.0), (2.0, 10, 3.0)]
    curve = read_run(run_folder(tmp_path, episodes, evaluated={15: [2.0, 4.0], 20: [7.0, np.nan]}))
    assert curve.evaluated("timesteps").tolist() == [15.0, 20.0]
    assert curve.evaluations.tolist() == [3.0, 7.0]
    assert curve.evaluated("time").tolist() == [2.0, 3.0]
    assert curve.evaluated("episodes").tolist() == [1.5, 2.0]


def test_the_timesteps_of_a_run_of_several_ranks_are_those_of_all(
    tmp_path: Path, run_folder: Make
) -> None:
    """Rank 0 writes its episodes alone, and evaluations count the timesteps of both."""
    folder = run_folder(tmp_path, [(1.0, 10, 1.0), (2.0, 20, 3.0)], evaluated={60: [5.0]})
    path = folder / "monitor.csv"
    path.write_text(path.read_text().replace("}", ', "timesteps": 5, "ranks": 2}', 1))
    curve = read_run(folder)
    assert curve.x("timesteps").tolist() == [30.0, 70.0]
    assert curve.evaluated("time").tolist() == [2.5]


def test_a_run_may_be_any_of_its_files_and_its_curve_is_shown_in_a_line(
    tmp_path: Path, run_folder: Make
) -> None:
    folder = run_folder(tmp_path, [(1.0, 10, 0.5)] * 50)
    curve = read_run(str(folder / "plan.json"))
    assert (curve.folder, len(curve.returns)) == (folder, 50)
    assert "CartPole-v1" in repr(curve) and "array" not in repr(curve)
    with pytest.raises(BadFile, match="is not a run folder"):
        read_run(Path(__file__).parent)


def test_without_a_monitor_the_rows_of_progress_are_drawn(tmp_path: Path) -> None:
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,time/episodes,time/time_elapsed,rollout/ep_rew_mean\n"
        "100,5,0.5,\n200,10,1.0,21.5\n"
    )
    curve = read_run(tmp_path)
    assert curve.returns.tolist() == [21.5]
    assert curve.timesteps.tolist() == [200.0]
    assert curve.smoothed and curve.averaged == 100
    assert curve.algo == tmp_path.name


OF_SB3 = "rollout/ep_rew_mean,time/total_timesteps,time/time_elapsed,train/loss"


def test_rows_of_stable_baselines3_are_drawn_although_they_count_no_episodes(
    tmp_path: Path,
) -> None:
    """Those of its on-policy algorithms; the first is of no episode, the last of an evaluation."""
    (tmp_path / "progress.csv").write_text(f"{OF_SB3}\n,64,1,0.5\n21.5,128,2,0.4\n,192,3,0.3\n")
    curve = read_run(tmp_path)
    assert curve.returns.tolist() == [21.5]
    assert (curve.x("timesteps").tolist(), curve.x("time").tolist()) == ([128.0], [2.0])
    assert curve.smoothed and curve.averaged == 100
    with pytest.raises(RlkError, match=r"does not count its episodes.*Use --x timesteps or"):
        curve.x("episodes")


def test_rows_without_a_mean_return_say_so(tmp_path: Path) -> None:
    path = tmp_path / "progress.csv"
    path.write_text("time/total_timesteps,time/fps\n64,100\n")
    told = "has no column rollout/ep_rew_mean, only time/total_timesteps, time/fps"
    with pytest.raises(RlkError, match=rf"{told}.*monitor_dir=FOLDER"):
        read_run(tmp_path)
    path.write_text(f"{OF_SB3}\n,64,1,0.5\n")
    with pytest.raises(RlkError, match="no episode has ended"):
        read_run(tmp_path)
    path.write_text(f"{OF_SB3}\n1.0,many,1,0.5\n")
    with pytest.raises(BadFile, match=r"is damaged.*many"):
        read_run(tmp_path)


def test_monitor_files_of_stable_baselines_are_a_run_by_the_name_of_its_folder(
    tmp_path: Path, run_folder: Make
) -> None:
    """Its vectors have one for each environment, whose episodes come as they ended."""
    folder = tmp_path / "PPO_1"
    folder.mkdir()
    for number, rows in enumerate(("1.0,10,1.0\r\n3.0,30,4.0\r\n", "2.0,20,2.5\r\n")):
        head = '#{"t_start": 100.0, "env_id": "CartPole-v1"}\nr,l,t\r\n'
        (folder / f"{number}.monitor.csv").write_text(head + rows, newline="")
    curve = read_run(folder)
    assert (curve.algo, curve.env, curve.seed) == ("PPO_1", "CartPole-v1", None)
    assert curve.returns.tolist() == [1.0, 2.0, 3.0]
    assert curve.timesteps.tolist() == [10.0, 30.0, 60.0]
    with pytest.raises(BadFile, match=r"It holds run folders\. Type: rlk plot"):
        folder_of(tmp_path)
    for number in (0, 1):
        (folder / f"{number}.monitor.csv").write_text('#{"t_start": 1, "env_id": "None"}\nr,l,t\n')
    told = r"\(0\.monitor\.csv and 1\.monitor\.csv hold no episode; .* in a while\.$"
    with pytest.raises(RlkError, match=told):
        read_run(folder)
    (folder / "1.monitor.csv").write_text('#{"t_start": 1, "env_id": "None"}\nr,l,t\n1,1,1\n')
    assert read_run(folder).env == ""


def test_a_run_in_which_no_episode_ended_says_so(tmp_path: Path, run_folder: Make) -> None:
    with pytest.raises(RlkError, match="no episode has ended"):
        read_run(run_folder(tmp_path, []))


def test_what_is_missing_is_named_apart_from_what_is_empty(
    tmp_path: Path, run_folder: Make
) -> None:
    folder = run_folder(tmp_path, [])
    told = r"\(monitor\.csv holds no episode; there is no progress\.csv\)"
    with pytest.raises(RlkError, match=told):
        read_run(folder)
    (folder / "monitor.csv").unlink()
    with pytest.raises(RlkError, match=r"there is no monitor\.csv and no progress\.csv in it"):
        read_run(folder)


def test_a_loaded_run_in_a_folder_of_its_own_counts_on(tmp_path: Path) -> None:
    with rlk.make("ppo2", env="CartPole-v1", n_envs=2, n_steps=32, seed=0, n_threads=1) as agent:
        path = agent.learn(64).save_checkpoint(tmp_path / "first")
    with rlk.load(path, out=str(tmp_path / "run"), plugins=["evaluation:every=64"]) as agent:
        agent.learn(128, reset_num_timesteps=False)
        last = agent.num_timesteps
    found = read_run(tmp_path / "run")
    assert found.evaluated_at.tolist() == [128, 192] == [128, last]
    assert found.timesteps[0] > 64 and 128 < found.timesteps[-1] <= last


def test_evaluations_of_several_calls_of_learn_are_one_count(tmp_path: Path) -> None:
    settings = {"env": "CartPole-v1", "n_steps": 64, "n_threads": 1}
    evaluation = ["evaluation:every=64,episodes=1"]
    with rlk.make("ppo2", plugins=evaluation, out=str(tmp_path), **settings) as agent:
        agent.learn(64)
        agent.learn(128)
    assert read_run(tmp_path).evaluated_at.tolist() == [64, 128, 192]


def test_several_calls_of_learn_are_one_count(tmp_path: Path, run_folder: Make) -> None:
    assert one_count(np.array([4.0, 8.0, 2.0, 6.0, 6.0, 1.0])).tolist() == [4, 8, 10, 14, 14, 15]
    assert one_count(np.array([4.0, 4.0, 8.0]), is_strict=True).tolist() == [4, 8, 12]
    assert one_count(np.array([0.0, 4.0]), is_strict=True).tolist() == [0, 4]
    (tmp_path / "progress.csv").write_text(
        "time/total_timesteps,time/episodes,time/time_elapsed,rollout/ep_rew_mean\n"
        "100,5,0.5,1\n200,10,1.0,2\n100,15,0.25,3\n"
    )
    results = np.array([[1.0], [2.0]])
    np.savez(tmp_path / "evaluations.npz", timesteps=[200, 100], results=results)
    curve = read_run(tmp_path)
    assert curve.timesteps.tolist() == [100.0, 200.0, 300.0]
    assert curve.seconds.tolist() == [0.5, 1.0, 1.25]
    assert curve.evaluated_at.tolist() == [200.0, 300.0]
    np.savez(tmp_path / "evaluations.npz", timesteps=[200, 200], results=results)
    assert read_run(tmp_path).evaluated_at.tolist() == [200.0, 400.0]


def test_a_folder_without_a_plan_shows_that_of_its_model(tmp_path: Path) -> None:
    settings = {"env": "CartPole-v1", "seed": 7, "log_interval": 1}
    with rlk.make("a2c", out=str(tmp_path), **settings) as agent:
        agent.learn(20)
    whole = read_run(tmp_path)
    (tmp_path / "plan.json").unlink()
    curve = read_run(tmp_path)
    assert (curve.algo, curve.env, curve.seed) == ("a2c", "CartPole-v1", 7)
    assert curve.settings == whole.settings


def test_run_is_a_folder_or_a_file_in_it(tmp_path: Path, run_folder: Make) -> None:
    folder = run_folder(tmp_path / "a", [])
    (folder / "checkpoints").mkdir()
    for name in ("model.zip", "checkpoints/10.zip"):
        (folder / name).touch()
        assert folder_of(folder / name) == folder
    assert folder_of(str(folder)) == folder


def test_other_places_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="does not exist"):
        folder_of(tmp_path / "nowhere")
    with pytest.raises(BadFile, match="is not a run folder"):
        folder_of(tmp_path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plan.json", "{"),
        ("plan.json", "{}"),
        ("evaluations.npz", "text"),
        ("monitor.csv", "r,l\n1,2\n"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, run_folder: Make, name: str, content: str) -> None:
    folder = run_folder(tmp_path, [(1.0, 10, 0.5)])
    (folder / name).write_text(content)
    with pytest.raises(RlkError, match=name):
        read_run(folder)


def test_the_episodes_of_a_run_are_read_once(
    tmp_path: Path, run_folder: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """There may be millions of them."""
    read, read_file = [], results._read
    monkeypatch.setattr(results, "_read", lambda path: read.append(path) or read_file(path))
    folder = run_folder(tmp_path, [(1.0, 10, 0.5)])
    assert read_run(folder).returns.tolist() == [1.0]
    assert read == [folder / "monitor.csv"]


def slow_rolling_mean(values: np.ndarray, window: int) -> list[float]:
    """The brute-force twin of `rolling_mean`, one window after the other."""
    windows = [values[max(0, i + 1 - window) : i + 1] for i in range(len(values))]
    numbers = [one[np.isfinite(one)] for one in windows]
    return [one.mean() if len(one) else np.nan for one in numbers]


@pytest.mark.parametrize("count", [1, 2, 29, 30, 31])
@pytest.mark.parametrize("window", [1, 2, 4, 15, 29, 30, 31, 100])
def test_a_rolling_mean_is_that_of_each_value_and_those_before_it(count: int, window: int) -> None:
    values = np.random.default_rng(0).normal(size=count)
    np.testing.assert_allclose(rolling_mean(values, window), slow_rolling_mean(values, window))
    values[[0, count // 3, count // 2]] = np.nan, np.inf, -np.inf
    np.testing.assert_allclose(rolling_mean(values, window), slow_rolling_mean(values, window))


def test_a_rolling_mean_leaves_out_what_is_not_finite() -> None:
    means = rolling_mean(np.array([np.nan, 2.0, np.inf, 4.0, 6.0]), 2)
    assert np.isnan(means[0])
    assert means[1:].tolist() == [2.0, 2.0, 4.0, 5.0]


@pytest.mark.parametrize("huge", [-1e17, 1e20])
def test_a_rolling_mean_forgets_a_huge_value_after_its_window(huge: float) -> None:
    means = rolling_mean(np.array([1.0, huge, *range(2, 12)], dtype=np.float64), 2)
    assert means[3:].tolist() == [number + 0.5 for number in range(2, 11)]


@pytest.mark.parametrize("at", range(12))
def test_a_huge_value_affects_the_means_of_its_own_windows_alone(at: int) -> None:
    values = np.arange(12.0)
    without = rolling_mean(values, 4)
    values[at] = 1e20
    is_other = (np.arange(12) < at) | (np.arange(12) >= at + 4)
    assert rolling_mean(values, 4)[is_other].tolist() == without[is_other].tolist()


def test_the_spread_of_lines_is_taken_where_all_of_them_are() -> None:
    lines = [
        (np.array([0.0, 10.0]), np.array([0.0, 10.0])),
        (np.array([5.0, 20.0]), np.array([1.0, 1.0])),
    ]
    x, mean, deviation = spread(lines, points=2)
    assert x.tolist() == [5.0, 10.0]
    assert mean.tolist() == [3.0, 5.5]
    assert deviation.tolist() == [2.0, 4.5]


def test_lines_without_a_common_part_have_no_spread() -> None:
    one = (np.array([0.0, 1.0]), np.zeros(2))
    other = (np.array([2.0, 3.0]), np.zeros(2))
    assert [len(part) for part in spread([one, other])] == [0, 0, 0]


def test_lines_with_one_point_in_common_have_a_spread_there() -> None:
    lines = [(np.array([3.0]), np.array([value])) for value in (1.0, 5.0)]
    assert [part.tolist() for part in spread(lines)] == [[3.0], [3.0], [2.0]]


def test_evaluations_are_averaged_where_all_runs_have_one(tmp_path: Path, run_folder: Make) -> None:
    episodes = [(1.0, 10, 1.0), (1.0, 90, 3.0)]
    first = run_folder(tmp_path / "a", episodes, evaluated={10: [1.0], 50: [2.0]})
    second = run_folder(tmp_path / "b", episodes, evaluated={50: [4.0], 60: [9.0]})
    x, means = shared_evaluations([read_run(first), read_run(second)], "timesteps")
    assert (x.tolist(), means.tolist()) == ([50.0], [3.0])
    third = run_folder(tmp_path / "c", episodes, evaluated={70: [4.0]})
    assert len(shared_evaluations([read_run(first), read_run(third)], "timesteps")[0]) == 0
