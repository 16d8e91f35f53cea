"""The vector monitor: figures by hand, its file, and its state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, VectorEnv

import rlk
from rlk.errors import RlkError
from rlk.registry.hooks import Hooks
from rlk_wrappers import VectorMonitor, load_results, vector_monitor
from rlk_wrappers.config import MonitorConfig


class Script(VectorEnv[Any, Any, Any]):
    """Two environments that return a list of (rewards, ended, final info)."""

    metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
    num_envs = 2

    def __init__(self, *steps: tuple[list[float], list[bool], dict[str, Any]]) -> None:
        self.steps, self.at, self.resets = list(steps), 0, 0
        self.single_observation_space = gym.spaces.Box(-1.0, 1.0, (1,))
        self.single_action_space = gym.spaces.Discrete(2)

    def reset(self, *, seed: Any = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        self.resets += 1
        return np.zeros((2, 1), np.float32), {}

    def step(self, actions: Any) -> Any:
        rewards, ended, final = self.steps[self.at]
        self.at += 1
        infos = {"final_info": dict(final), "_final_info": np.array(ended)} if any(ended) else {}
        reward = np.array(rewards, np.float32)
        return np.zeros((2, 1)), reward, np.array(ended), np.zeros(2, bool), infos

    def get_state(self) -> list[Any]:
        return [{"at": self.at}, {"at": self.at}]

    def set_state(self, states: list[Any]) -> None:
        self.at = states[0]["at"]

    def call(self, name: str) -> tuple[str, str]:
        return (name, name)


NO, FIRST, BOTH = [False, False], [True, False], [True, True]


def play(env: VectorMonitor, steps: int) -> list[dict[str, Any]]:
    return [env.step(np.zeros(2, int))[4] for _ in range(steps)]


def rows(path: Path) -> list[list[str]]:
    return [line.split(",") for line in path.read_text().splitlines()[2:]]


def test_it_tells_returns_and_lengths_where_episodes_ended() -> None:
    env = VectorMonitor(
        Script(([1.0, 5.0], NO, {}), ([2.5, 5.0], FIRST, {}), ([10.0, 5.0], BOTH, {}))
    )
    env.reset()
    nothing, first, both = play(env, 3)
    assert nothing == {}
    figures, mask = first["final_info"]["episode"], first["final_info"]["_episode"]
    assert mask.tolist() == FIRST
    assert figures["r"].tolist() == [3.5, 0.0]
    assert figures["l"].tolist() == [2, 0]
    figures = both["final_info"]["episode"]
    assert figures["r"].tolist() == [10.0, 15.0]
    assert figures["l"].tolist() == [1, 3]


def test_returns_are_told_as_they_are() -> None:
    env = VectorMonitor(Script(([3e-8, 0.0], NO, {}), ([0.0, np.inf], BOTH, {})))
    env.reset()
    assert play(env, 2)[1]["final_info"]["episode"]["r"].tolist() == [np.float32(3e-8), np.inf]


def test_an_inner_monitors_return_is_taken_and_steps_are_counted_here(tmp_path: Path) -> None:
    told = {
        "episode": {"r": np.array([7.0, 0.0]), "l": np.array([4, 0])},
        "_episode": np.array(FIRST),
    }
    env = VectorMonitor(Script(([1.0, 1.0], BOTH, told)), out=tmp_path)
    env.reset()
    (infos,) = play(env, 1)
    env.close()
    assert infos["final_info"]["episode"]["r"].tolist() == [7.0, 1.0]
    assert infos["final_info"]["episode"]["l"].tolist() == [1, 1]
    assert [row[:2] for row in rows(tmp_path / "monitor.csv")] == [["7.0", "1"], ["1.0", "1"]]


def test_the_file_has_the_layout_of_stable_baselines(tmp_path: Path) -> None:
    env = VectorMonitor(Script(([1.0, 2.0], BOTH, {})), out=tmp_path)
    env.reset()
    play(env, 1)
    env.close()
    header, columns, *episodes = (tmp_path / "monitor.csv").read_text().splitlines()
    assert header.startswith("#")
    assert set(json.loads(header[1:])) == {"t_start", "env_id"}
    assert columns == "r,l,t"
    assert [line.split(",")[:2] for line in episodes] == [["1.0", "1"], ["2.0", "1"]]
    assert all(float(line.split(",")[2]) >= 0 for line in episodes)


def test_info_keywords_become_columns(tmp_path: Path) -> None:
    final = {"is_success": np.array([True, False]), "_is_success": np.array(FIRST)}
    config = MonitorConfig(info_keywords=("is_success",))
    env = VectorMonitor(Script(([1.0, 1.0], FIRST, final)), config, out=tmp_path)
    env.reset()
    play(env, 1)
    env.close()
    assert (tmp_path / "monitor.csv").read_text().splitlines()[1] == "r,l,t,is_success"
    assert rows(tmp_path / "monitor.csv")[0][3] == "True"


def test_whatever_an_info_holds_is_one_line_and_the_file_can_be_appended_to(tmp_path: Path) -> None:
    held = np.empty(2, object)
    held[0] = np.linspace(0, 1, 20)
    told = {"qpos": held, "text": np.array(["a\r\nb\x0cc\u2028d", ""])}
    final = {**told, "_qpos": np.array(FIRST), "_text": np.array(FIRST)}
    config = MonitorConfig(info_keywords=("qpos", "text"))
    for count in (1, 2):
        env = VectorMonitor(Script(([1.0, 1.0], FIRST, final)), config, out=tmp_path)
        env.reset()
        play(env, 1)
        env.close()
        found = rows(tmp_path / "monitor.csv")
        assert (
            len(found) == count and len((tmp_path / "monitor.csv").open().readlines()) == 2 + count
        )
        assert found[0][3].startswith("[0. ") and found[0][4] == "a b c d"


def test_an_info_keyword_that_an_episode_does_not_have_is_named() -> None:
    final = {"is_success": np.array([False, True]), "_is_success": np.array([False, True])}
    env = VectorMonitor(
        Script(([1.0, 1.0], FIRST, final)), MonitorConfig(info_keywords=("is_success",))
    )
    env.reset()
    with pytest.raises(RlkError, match="'is_success'"):
        play(env, 1)


def test_the_info_of_an_episode_whose_environment_was_lost_is_an_empty_cell(tmp_path: Path) -> None:
    final = {
        "level": np.array([0, 4]),
        "_level": np.array([False, True]),
        "worker_restarted": np.array([True, False]),
    }
    env = VectorMonitor(
        Script(([1.0, 1.0], BOTH, final)), MonitorConfig(info_keywords=("level",)), out=tmp_path
    )
    env.reset()
    play(env, 1)
    env.close()
    assert [row[3] for row in rows(tmp_path / "monitor.csv")] == ["", "4"]
    np.testing.assert_array_equal(load_results(tmp_path)["level"], [np.nan, 4.0])


def test_a_named_file_that_is_there_is_replaced_where_there_is_no_run(tmp_path: Path) -> None:
    config = MonitorConfig(filename=str(tmp_path / "named"))
    for return_ in (1.0, 2.0):
        env = VectorMonitor(Script(([return_, 0.0], FIRST, {})), config)
        env.reset()
        play(env, 1)
        env.close()
    assert [row[0] for row in rows(tmp_path / "named.monitor.csv")] == ["2.0"]


def test_an_early_reset_can_be_forbidden() -> None:
    steps = [([1.0, 1.0], FIRST, {})] * 2
    strict = MonitorConfig(allow_early_resets=False)
    env = VectorMonitor(Script(*steps), strict)
    env.reset()
    env.reset()  # no step was taken
    play(env, 1)
    with pytest.raises(RlkError, match="environment 1"):
        env.reset()
    env.reset(options={"reset_mask": np.array(FIRST)})
    evaluation = VectorMonitor(Script(*steps), strict, training=False)
    evaluation.reset()
    play(evaluation, 1)
    evaluation.reset()


def test_a_reset_starts_counting_anew() -> None:
    env = VectorMonitor(Script(([5.0, 5.0], NO, {}), ([1.0, 1.0], BOTH, {})))
    env.reset()
    play(env, 1)
    env.reset(options={"reset_mask": np.array(FIRST)})
    episode = play(env, 1)[0]["final_info"]["episode"]
    assert (episode["r"].tolist(), episode["l"].tolist()) == ([1.0, 6.0], [1, 2])


def test_an_evaluation_environment_writes_nothing(tmp_path: Path) -> None:
    env = VectorMonitor(Script(([1.0, 1.0], BOTH, {})), training=False, out=tmp_path)
    env.reset()
    assert "episode" in play(env, 1)[0]["final_info"]
    env.close()
    assert list(tmp_path.iterdir()) == []


def test_without_a_folder_it_writes_nothing_and_a_filename_wins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env = VectorMonitor(Script(([1.0, 1.0], BOTH, {})))
    env.reset()
    play(env, 1)
    env.close()
    named = MonitorConfig(filename="~/run7")
    env = VectorMonitor(Script(([1.0, 1.0], BOTH, {})), named, out=tmp_path / "elsewhere")
    env.reset()
    play(env, 1)
    env.close()
    assert [path.name for path in tmp_path.iterdir()] == ["run7.monitor.csv"]


def test_rows_reach_the_file_within_the_interval_and_not_one_by_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    steps = [([1.0, 1.0], ended, {}) for ended in (FIRST, FIRST, NO, FIRST)]
    env = VectorMonitor(Script(*steps), out=tmp_path)
    env.reset()
    play(env, 2)
    path = tmp_path / "monitor.csv"
    assert not path.exists()
    now[0] += vector_monitor.FLUSH_SECONDS
    play(env, 1)  # no episode ends, but the rows are written anyway
    assert len(rows(path)) == 2
    play(env, 1)  # the interval has begun anew
    assert len(rows(path)) == 2
    env.close()


def test_state_goes_on_in_the_middle_of_episodes() -> None:
    steps = [([1.0, 2.0], NO, {}), ([1.0, 2.0], FIRST, {}), ([1.0, 2.0], BOTH, {})]
    env = VectorMonitor(Script(*steps))
    env.reset()
    play(env, 2)
    state = env.get_state()
    assert state is not None
    # The checkpoint has it in addition to the states of the environments.
    assert json.loads(json.dumps(state)) == state
    assert [part["env"] for part in state] == [{"at": 2}, {"at": 2}]
    again = VectorMonitor(Script(*steps))
    again.reset()
    again.set_state(state)
    episode = play(again, 1)[0]["final_info"]["episode"]
    assert (episode["r"].tolist(), episode["l"].tolist()) == ([1.0, 6.0], [1, 3])


def test_a_state_that_was_saved_without_a_monitor_is_taken() -> None:
    script = Script(([1.0, 2.0], NO, {}), ([1.0, 2.0], BOTH, {}))
    env = VectorMonitor(script)
    env.reset()
    env.set_state([{"at": 1}, {"at": 1}])
    assert play(env, 1)[0]["final_info"]["episode"]["r"].tolist() == [1.0, 2.0]


def test_without_a_state_of_the_environments_there_is_none() -> None:
    script = Script()
    script.get_state = lambda: None  # type: ignore[method-assign,assignment]
    assert VectorMonitor(script).get_state() is None


def test_with_a_checkpoint_all_rows_so_far_are_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_monitor, "FLUSH_SECONDS", 1e9)
    hooks = Hooks()
    env = VectorMonitor(Script(*[([1.0, 2.0], BOTH, {})] * 3), out=tmp_path, hooks=hooks)
    env.reset()
    play(env, 3)
    assert not (tmp_path / "monitor.csv").exists()
    ((name, saved),) = hooks.answers("rlk_save", run=None, replay=True)
    assert (name, saved["rows"]) == ("monitor", 6)
    assert len(rows(tmp_path / "monitor.csv")) == 6
    env.close()


@pytest.mark.parametrize("has_state", [True, False])
def test_a_resumed_run_appends_and_drops_what_came_after_its_checkpoint(
    tmp_path: Path, has_state: bool
) -> None:
    steps = [([float(i), 0.0], FIRST, {}) for i in range(4)]
    hooks = Hooks()
    env = VectorMonitor(Script(*steps), out=tmp_path, hooks=hooks)
    env.reset()
    play(env, 2)
    states, ((name, saved),) = env.get_state(), hooks.answers("rlk_save", run=None, replay=True)
    play(env, 2)  # after the checkpoint; then the process is killed
    env.close()
    path = tmp_path / "monitor.csv"
    before = path.read_text().splitlines()
    hooks = Hooks()
    again = VectorMonitor(Script(*steps), out=tmp_path, hooks=hooks)
    dict(hooks.listeners("rlk_load"))[name](run=None, state=saved)
    again.reset()
    if has_state:
        assert states is not None
        again.set_state(states)
    play(again, 1)
    again.close()
    after = path.read_text().splitlines()
    assert after[:4] == before[:4]
    assert [row[0] for row in rows(path)] == ["0.0", "1.0", "2.0" if has_state else "0.0"]
    times = [float(row[2]) for row in rows(path)]
    assert times == sorted(times)


def test_a_new_run_refuses_a_named_file_of_another_and_a_resumed_one_appends(
    tmp_path: Path,
) -> None:
    path = tmp_path / "named.monitor.csv"
    settings: Any = {"plugins": [f"monitor:filename={path}"], "n_steps": 32, "nminibatches": 1}
    with rlk.make("ppo2", env="CartPole-v1", **settings) as agent:
        agent.learn(64)
        agent.learn(64)
        agent.save_checkpoint(tmp_path / "here.zip")
    before = path.read_text()
    with (
        rlk.make("ppo2", env="CartPole-v1", **settings) as agent,
        pytest.raises(RlkError, match=r"named\.monitor\.csv is there already.*Move it away"),
    ):
        agent.learn(64)
    assert path.read_text() == before
    with rlk.load(tmp_path / "here.zip", **{"monitor.filename": str(path)}) as agent:
        agent.learn(256, reset_num_timesteps=False)
    assert path.read_text().startswith(before) and path.read_text() != before


def test_a_row_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text('#{"t_start": 1.0, "env_id": null}\nr,l,t\n1.0,1,50.0\n2.')
    env = VectorMonitor(Script(([3.0, 0.0], FIRST, {})), out=tmp_path)
    env.reset()
    play(env, 1)
    env.close()
    assert [row[0] for row in rows(path)] == ["1.0", "3.0"]
    assert float(rows(path)[1][2]) >= 50.0


def test_a_file_with_other_columns_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "monitor.csv"
    path.write_text('#{"t_start": 1.0, "env_id": null}\nr,l,t,speed\n1.0,1,0.5,9\n')
    with pytest.raises(RlkError, match="speed"):
        VectorMonitor(Script(), out=tmp_path)
    assert path.read_text().endswith("1.0,1,0.5,9\n")


def test_what_the_backend_offers_besides_is_reached() -> None:
    env = VectorMonitor(Script())
    assert env.call("render") == ("render", "render")
    with pytest.raises(AttributeError):
        _ = env.nothing_of_this_name
    with pytest.raises(AttributeError):
        _ = env._private
