"""`Monitor` of Stable-Baselines3, for one environment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from rlk.running.environment_states import environment_states
from rlk_baselines.refusals import MissingInfo
from rlk_dummy import DummyVecEnv
from rlk_sb3.common import results_plotter
from rlk_sb3.common.monitor import Monitor
from rlk_testing.environments import DiscreteMatch, Walk
from rlk_vector_environments import env_state
from rlk_wrappers import load_results


class Rewards(gym.Env[Any, Any]):
    """Episodes of three steps with the rewards `first`, 2 and 0.1."""

    observation_space = gym.spaces.Discrete(2)
    action_space = gym.spaces.Discrete(2)

    def __init__(self, first: float = 1.0) -> None:
        self.first = first

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.steps = 0
        return 0, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.steps += 1
        return (
            0,
            (self.first, 2.0, 0.1)[self.steps - 1],
            False,
            self.steps == 3,
            {"speed": self.steps},
        )


def play(env: Monitor[Any, Any], episodes: int = 1, **options: Any) -> dict[str, Any]:
    info: dict[str, Any] = {}
    for _ in range(episodes):
        env.reset(options=options)
        over = False
        while not over:
            _, _, terminated, truncated, info = env.step(0)
            over = terminated or truncated
    return info


def test_the_last_info_of_an_episode_has_its_figures() -> None:
    figures = play(Monitor(Rewards()))["episode"]
    assert (figures["r"], figures["l"]) == (3.1, 3)
    assert figures["t"] >= 0.0


def test_the_seeds_methods_tell_of_all_episodes() -> None:
    env = Monitor(Rewards())
    play(env, 2)
    env.reset()
    env.step(0)
    assert env.get_episode_rewards() == [3.1, 3.1]
    assert env.get_episode_lengths() == [3, 3]
    assert env.get_total_steps() == 7
    times = env.get_episode_times()
    assert len(times) == 2
    assert times == sorted(times)


def test_only_the_row_is_rounded() -> None:
    env = Monitor(Rewards(1 / 3))
    assert play(env)["episode"]["r"] == 2.433333
    assert env.get_episode_rewards() == [1 / 3 + 2.0 + 0.1]


def test_every_episode_is_in_the_file_at_once(tmp_path: Path) -> None:
    env = Monitor(
        Rewards(), str(tmp_path / "a"), reset_keywords=("goal",), info_keywords=("speed",)
    )
    play(env, 1, goal=4)
    header, columns, row = (tmp_path / "a.monitor.csv").read_text().splitlines()
    assert set(json.loads(header[1:])) == {"t_start", "env_id"}
    assert columns == "r,l,t,goal,speed"
    assert row.split(",")[:2] + row.split(",")[3:] == ["3.1", "3", "4", "3"]
    env.close()


def test_a_folder_as_filename_gets_a_monitor_csv_and_an_old_file_is_replaced(
    tmp_path: Path,
) -> None:
    for episodes in (3, 1):
        env = Monitor(Rewards(), tmp_path)
        play(env, episodes)
        env.close()
    assert len((tmp_path / "monitor.csv").read_text().splitlines()) == 3


def test_the_file_is_there_before_an_episode_has_ended(tmp_path: Path) -> None:
    Monitor(Rewards(), tmp_path / "folder" / "a")
    assert load_results(tmp_path / "folder")["r"].tolist() == []


def test_rows_are_added_to_an_old_file_if_it_is_not_to_be_replaced(tmp_path: Path) -> None:
    for _ in range(2):
        play(Monitor(Rewards(), tmp_path, override_existing=False))
    header, columns, *rows = (tmp_path / "monitor.csv").read_text().splitlines()
    assert (header[:2], columns) == ("#{", "r,l,t")
    assert [row.split(",")[0] for row in rows] == ["3.1", "3.1"]


def test_the_times_of_added_rows_go_on_from_those_that_are_there(tmp_path: Path) -> None:
    before = '#{"t_start": 1.0, "env_id": null}\nr,l,t\n1.0,1,100.0\n'
    (tmp_path / "monitor.csv").write_text(before)
    env = Monitor(Rewards(), tmp_path, override_existing=False)
    seconds = play(env)["episode"]["t"]
    assert seconds >= 100.0 and env.get_episode_times() == [seconds]
    assert load_results(tmp_path)["r"].tolist() == [1.0, 3.1]


class Lives(Rewards):
    """A game of two lives of one step each, with clipped rewards; counts as rlk_atari does."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self.over = not getattr(self, "over", True)
        return (
            0,
            1.0,
            True,
            False,
            {"episode": {"r": 9, "l": 2}} if self.over else {"goes_on": True},
        )


def test_a_life_of_a_game_is_no_episode() -> None:
    env = Monitor(Lives())
    assert "episode" not in play(env)
    assert (play(env)["episode"]["r"], env.get_episode_rewards()) == (9.0, [9.0])


class Counter(Rewards):
    """Has a value of its own under the key `episode`."""

    own: Any = 5

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        *result, info = super().step(action)
        return (*result, {**info, "episode": self.own})


@pytest.mark.parametrize("own", [5, None, "x", {"id": 3}, {"r": 99.0, "l": 99, "t": 0.0}])
def test_an_environments_own_key_episode_does_not_count(own: Any) -> None:
    env = Counter()
    env.own = own
    figures, expected = play(Monitor(env))["episode"], play(Monitor(Rewards()))["episode"]
    assert (figures["r"], figures["l"]) == (expected["r"], expected["l"])


def test_an_early_reset_can_be_forbidden() -> None:
    env = Monitor(Rewards(), allow_early_resets=False)
    env.reset()
    with pytest.raises(RuntimeError, match="middle of an episode"):
        env.reset()


def test_a_step_after_the_end_is_refused() -> None:
    env = Monitor(Rewards())
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)
    play(env)
    with pytest.raises(RuntimeError, match="reset"):
        env.step(0)


def test_missing_keywords_are_named() -> None:
    with pytest.raises(ValueError, match="'goal'"):
        Monitor(Rewards(), reset_keywords=("goal",)).reset()
    with pytest.raises(MissingInfo, match=r"'wind'.*\['speed'\]"):
        play(Monitor(Rewards(), info_keywords=("wind",)))


@pytest.mark.parametrize("key", ["r", "a,b", ""])
def test_keywords_that_no_column_can_have_are_refused(key: str) -> None:
    with pytest.raises(ValueError, match="info_keywords"):
        Monitor(Rewards(), info_keywords=(key,))


def test_its_state_is_part_of_the_environments_state() -> None:
    env = Monitor(Walk())
    play(env, 2)
    env.reset(seed=5)
    env.step(1)
    state = env_state.capture(env)
    again = Monitor(Walk())
    env_state.restore(again, state)
    assert again.get_episode_rewards() == env.get_episode_rewards()
    assert again.get_total_steps() == env.get_total_steps() > 1
    figures = []
    for one in (env, again):
        info: dict[str, Any] = {}
        while "episode" not in info:
            info = one.step(1)[4]
        figures.append((info["episode"]["r"], info["episode"]["l"]))
    assert figures[0] == figures[1]


def test_a_run_of_very_many_episodes_can_still_be_saved_and_resumed() -> None:
    env = Monitor(Walk())
    env.reset(seed=0)
    times = np.arange(80_000.0)
    figures = {"returns": times + 0.5, "lengths": times.astype(int), "times": times}
    env.set_state({**env.get_state(), **figures})
    states = environment_states(DummyVecEnv([lambda: env]))
    assert states is not None
    again = Monitor(Walk())
    env_state.restore(again, states[0])
    assert again.get_episode_rewards() == (times + 0.5).tolist()
    assert again.get_episode_lengths() == list(range(80_000))
    assert again.get_episode_times() == times.tolist()


def test_its_state_has_the_figures_of_all_episodes_as_arrays_of_their_own() -> None:
    env = Monitor(Walk())
    play(env, 2)
    figures = [env.get_state()[name] for name in ("returns", "lengths", "times")]
    play(env)
    assert [column.dtype for column in figures] == [np.float64, np.int64, np.float64]
    assert figures[0].tolist() == env.get_episode_rewards()[:2]


def test_the_environments_own_id_is_in_the_header(tmp_path: Path) -> None:
    env = Monitor(gym.make("CartPole-v1"), tmp_path)
    env.reset(seed=0)
    while not env.step(0)[2]:
        pass
    env.close()
    header = (tmp_path / "monitor.csv").read_text().splitlines()[0]
    assert json.loads(header[1:])["env_id"] == "CartPole-v1"
    assert Monitor(DiscreteMatch()).env.spec is None


def test_plots_have_a_size(counting: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib import pyplot

    env = Monitor(counting(1), str(tmp_path))
    env.reset()
    env.step(0)
    axis = results_plotter.X_EPISODES
    results_plotter.plot_results(
        [str(tmp_path)], 10, x_axis=axis, task_name="title", figsize=(5, 4)
    )
    assert pyplot.gcf().get_size_inches().tolist() == [5, 4]
    pyplot.close()
    figure = results_plotter.plot_curves([([0], [1.0])], x_axis=axis, title="title")
    assert figure.get_size_inches().tolist() == [8, 2]
    pyplot.close()
