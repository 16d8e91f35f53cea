from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

from rlk_baselines import A2C, DQN, gym, logger, results_plotter
from rlk_baselines.bench import Monitor, load_results
from rlk_baselines.common.callbacks import (
    BaseCallback,
    CheckpointCallback,
    EvalCallback,
    EveryNTimesteps,
    StopTrainingOnRewardThreshold,
)
from rlk_baselines.common.env_checker import check_env
from rlk_baselines.common.evaluation import evaluate_policy
from rlk_baselines.common.schedules import (
    PiecewiseSchedule,
    Scheduler,
    double_middle_drop,
    get_schedule_fn,
)
from rlk_baselines.common.vec_env import DummyVecEnv
from rlk_baselines.environments.ids import current_id
from rlk_baselines.log_rows.tensorboard import folder_of_run


class Recording(BaseCallback):
    """Records its calls, and stops the training after some steps."""

    def __init__(self, stop_after: int = 10**6) -> None:
        super().__init__()
        self.stop_after = stop_after
        self.events: list[str] = []
        self.seen: list[dict[str, Any]] = []

    def _on_training_start(self) -> None:
        self.events.append("training starts")

    def _on_rollout_start(self) -> None:
        self.events.append("rollout starts")

    def _on_step(self) -> bool:
        names = ("obs", "rewards", "dones", "infos", "actions", "total_timesteps")
        self.seen.append({name: np.copy(self.locals[name]) for name in names})
        return self.n_calls < self.stop_after

    def _on_rollout_end(self) -> None:
        self.events.append("rollout ends")

    def _on_training_end(self) -> None:
        self.events.append("training ends")


def model_of(env: Any, **keywords: Any) -> A2C:
    return A2C("MlpPolicy", env, n_steps=2, seed=0, n_cpu_tf_sess=1, **keywords)


def test_a_callback_is_told_what_happens_with_its_variables(counting) -> None:
    callback = Recording()
    model = model_of(DummyVecEnv([counting] * 2))
    model.learn(8, callback=callback)
    rollout = ["rollout starts", "rollout ends"]
    assert callback.events == ["training starts", *rollout * 2, "training ends"]
    assert (callback.n_calls, callback.num_timesteps) == (4, 8)
    assert callback.model is model and callback.training_env is model.get_env()
    third = callback.seen[2]
    assert third["dones"].tolist() == [True, True] and third["total_timesteps"] == 8
    assert third["obs"].tolist() == [[0, 7], [0, 7]]
    assert [info["steps"] for info in third["infos"]] == [3, 3]


def test_one_environment_has_its_variables_by_their_single_names(counting) -> None:
    found: list[Any] = []
    model = DQN("MlpPolicy", counting(), learning_starts=100)
    model.learn(4, callback=lambda _locals, _globals: found.append(dict(_locals)))
    assert (found[2]["done"], found[2]["rew"], found[2]["reward"]) == (True, 1.0, 1.0)
    assert found[2]["info"]["steps"] == 3 and found[2]["self"] is model


def test_without_a_callback_single_steps_are_not_listened_to(counting) -> None:
    model = model_of(counting())
    model.learn(4, callback=Recording())
    assert model.agent.run.listeners["rlk_step"] == []


def test_models_are_saved_on_the_way(counting, tmp_path: Path) -> None:
    every = EveryNTimesteps(3, CheckpointCallback(1, str(tmp_path), name_prefix="a"))
    model_of(counting()).learn(8, callback=[CheckpointCallback(4, str(tmp_path)), every])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        *("a_3_steps.zip", "a_6_steps.zip"),
        *("rl_model_4_steps.zip", "rl_model_8_steps.zip"),
    ]


def test_an_evaluation_keeps_the_best_model_and_stops_at_a_return(
    counting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stop = StopTrainingOnRewardThreshold(reward_threshold=3.0, verbose=1)
    callback = EvalCallback(
        counting(),
        callback_on_new_best=stop,
        n_eval_episodes=2,
        eval_freq=4,
        log_path=str(tmp_path / "log"),
        best_model_save_path=str(tmp_path / "best"),
    )
    model = model_of(counting()).learn(100, callback=callback)
    assert model.num_timesteps == 4 and callback.best_mean_reward == 3.0
    found = np.load(tmp_path / "log" / "evaluations.npz")
    assert found["timesteps"].tolist() == [4]
    assert found["results"].tolist() == [[3.0, 3.0]] and found["ep_lengths"].tolist() == [[3, 3]]
    assert (tmp_path / "best" / "best_model.zip").exists()
    assert "New best mean reward!" in capsys.readouterr().out


def test_policies_are_evaluated_in_environments_of_every_interface(counting) -> None:
    model = model_of(counting())
    for env in (counting(), DummyVecEnv([counting]), gym.wrappers.TimeLimit(counting(), 9)):
        assert evaluate_policy(model, env, n_eval_episodes=2) == (3.0, 0.0)
    found = evaluate_policy(model, counting(), n_eval_episodes=2, return_episode_rewards=True)
    assert found == ([3.0, 3.0], [3, 3])
    with pytest.raises(AssertionError, match=r"3\.00 < 4\.00"):
        evaluate_policy(model, counting(), reward_threshold=4)
    with pytest.raises(AssertionError, match="takes one environment, got 2"):
        evaluate_policy(model, DummyVecEnv([counting] * 2))


def test_an_evaluation_begins_no_episode_that_nobody_plays(counting) -> None:
    env = Monitor(counting(), None, allow_early_resets=False)
    for _ in range(2):
        assert evaluate_policy(model_of(counting()), env, n_eval_episodes=2) == (3.0, 0.0)
    assert env.get_episode_lengths() == [3] * 4


def test_tensorboard_has_a_folder_for_every_run(counting, tmp_path: Path) -> None:
    model = model_of(counting(), tensorboard_log=str(tmp_path), full_tensorboard_log=True)

    def write(_locals: Any, _globals: Any) -> None:
        _locals["writer"].add_scalar("random", 0.5, _locals["self"].num_timesteps)

    model.learn(8, callback=write, tb_log_name="first", log_interval=1)
    model.learn(8, tb_log_name="first", reset_num_timesteps=False)
    model.learn(8, tb_log_name="first")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["first_1", "first_2"]
    written = b"".join(path.read_bytes() for path in (tmp_path / "first_1").iterdir())
    assert all(tag in written for tag in (b"random", b"episode_reward", b"model/pi/out"))
    assert folder_of_run(str(tmp_path), "first", is_new=True).name == "first_3"


def test_rows_are_printed_and_written_where_the_logger_was_told(
    counting, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model_of(counting(), verbose=1).learn(8, log_interval=1)
    assert "| total_timesteps" in capsys.readouterr().out
    logger.configure(str(tmp_path), ["csv", "json", "log"])
    try:
        logger.logkv_mean("mean", 1)
        logger.logkv_mean("mean", 2)
        logger.logkv("only", 3)
        logger.dumpkvs()
        model_of(counting()).learn(4, log_interval=1)
        logger.info("some", "words")
    finally:
        logger.reset()
    assert capsys.readouterr().out == ""
    table = logger.read_csv(str(tmp_path / "progress.csv"))
    assert table["mean"][0] == 1.5 and table["total_timesteps"].iloc[-1] == 4
    assert len(logger.read_json(str(tmp_path / "progress.json"))) == len(table)
    assert "some words" in (tmp_path / "log.txt").read_text()


# ---- monitors, plots, schedules, the checker -----------------------------------------------------


def test_a_monitor_records_episodes(counting, tmp_path: Path) -> None:
    env = Monitor(counting(), str(tmp_path), info_keywords=("steps",), allow_early_resets=False)
    assert len(load_results(str(tmp_path))) == 0
    with pytest.raises(RuntimeError, match=r"call reset\(\)"):
        env.step(0)
    env.reset()
    infos = [env.step(0)[3] for _ in range(3)]
    assert "episode" not in infos[1]
    assert {key: value for key, value in infos[2]["episode"].items() if key != "t"} == {
        "r": 3,
        "l": 3,
        "steps": 3,
    }
    env.reset()
    env.step(0)
    with pytest.raises(RuntimeError, match="in the middle"):
        env.reset()
    env.close()
    table = load_results(str(tmp_path))
    assert table.r.tolist() == [3.0] and table["l"].tolist() == [3]
    assert (env.get_total_steps(), env.get_episode_lengths()) == (4, [3])


def test_columns_that_not_all_monitors_have_are_kept(counting, tmp_path: Path) -> None:
    for name, keywords in (("0", ("steps",)), ("1", ())):
        env = Monitor(counting(1), str(tmp_path / name), info_keywords=keywords)
        env.reset()
        env.step(0)
    text = (tmp_path / "0.monitor.csv").read_text().replace("steps", "goal").replace(",1\n", ",a\n")
    (tmp_path / "2.monitor.csv").write_text(text)
    table = load_results(str(tmp_path))
    assert sorted(table) == ["goal", "l", "r", "steps", "t"]
    assert table.steps.dropna().tolist() == [1] and table.goal.dropna().tolist() == ["a"]


def test_learning_curves_are_drawn(
    counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    env = Monitor(counting(1), str(tmp_path))
    for _ in range(101):
        env.reset()
        env.step(0)
    from matplotlib import pyplot

    before = pyplot.get_fignums()
    for _ in range(2):  # each into a figure of its own
        results_plotter.plot_results([str(tmp_path)], 1e5, results_plotter.X_TIMESTEPS, "title")
    assert len(pyplot.get_fignums()) == len(before) + 2
    axes = pyplot.gcf().axes[0]
    assert len(axes.lines) == 1
    assert axes.lines[0].get_ydata().tolist() == [1.0, 1.0] and axes.get_title() == "title"
    pyplot.close()
    pyplot.close()
    x, y = results_plotter.ts2xy({"r": [1, 2], "l": [5, 6], "t": [3600, 7200]}, "walltime_hrs")
    assert (x.tolist(), y.tolist()) == ([1, 2], [1, 2])
    window = results_plotter.window_func(np.arange(3), np.array([1, 3, 5]), 2, np.mean)
    assert [part.tolist() for part in window] == [[1, 2], [2, 4]]


def test_schedules_are_the_documented_ones() -> None:
    assert [double_middle_drop(progress) for progress in (0.1, 0.5, 0.9)] == [0.9, 0.75, 0.125]
    assert PiecewiseSchedule([(0, 1.0), (10, 2.0)], outside_value=5).value(5) == 1.5
    scheduler = Scheduler(2.0, 4, "linear")
    assert [scheduler.value() for _ in range(2)] == [2.0, 1.5]
    assert get_schedule_fn(0.5)(0.1) == 0.5


def test_the_checker_passes_what_is_right_and_says_what_is_wrong(counting) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(counting())
    with pytest.warns(UserWarning, match="symmetric and normalised"):
        check_env(gym.make("Pendulum-v1"))
    nested = counting()
    nested.observation_space = spaces.Tuple([spaces.Dict({"a": nested.observation_space})])
    nested.reset = lambda: ({"a": np.zeros(2, np.float32)},)
    nested.step = lambda action: (nested.reset(), 1.0, False, {})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(nested)  # which MultiInputPolicy takes
    several = counting()
    several.action_space = spaces.Tuple([several.action_space])
    with pytest.warns(UserWarning, match="actions are a Tuple, which no model learns"):
        check_env(several)

    class Wrong(counting):
        what = "reset"

        def reset(self):
            return (super().reset(), {"a": 1}, 3) if self.what == "reset" else super().reset()

        def step(self, action):
            obs, reward, done, info = super().step(action)
            changed = {
                "shape": (obs[:1], reward, done, info),
                "reward": (obs, "1", done, info),
                "done": (obs, reward, 0, info),
                "info": (obs, reward, done, None),
                "three": (obs, reward, done),
            }
            return changed.get(self.what, (obs, reward, done, info))

    expected = {
        "reset": r"not a tuple: .* or \(observation, info\), where info is a dict",
        "shape": r"must have the shape of the observation space, \(2,\), got \(1,\)",
        "reward": "reward returned by step must be a float, got str",
        "done": "must be a boolean, got int",
        "info": "must be a dictionary, got NoneType",
        "three": r"must return \(obs, reward, done, info\), got 3",
    }
    for what, message in expected.items():
        env = Wrong()
        env.what = what
        with pytest.raises(AssertionError, match=message):
            check_env(env)


def test_an_id_that_gymnasium_has_only_to_refuse_it_is_the_next_that_it_makes() -> None:
    for name, today in {"Reacher-v2": "Reacher-v4", "HalfCheetah-v3": "HalfCheetah-v4"}.items():
        with pytest.warns(UserWarning, match=f"no {name} any more: made {today}"):
            assert current_id(name) == today
    assert current_id("HalfCheetah-v5") == "HalfCheetah-v5"


def test_the_old_ids_make_the_environments_of_today() -> None:
    with pytest.warns(UserWarning, match="no Pendulum-v0 any more: made Pendulum-v1"):
        env = gym.make("Pendulum-v0")
    env.seed(3)
    first = env.reset()
    env.seed(3)
    assert np.array_equal(first, env.reset()) and len(env.step(env.action_space.sample())) == 4
    assert env.render(mode="rgb_array").ndim == 3


def test_neither_the_package_nor_what_workers_make_environments_with_imports_torch() -> None:
    program = "import rlk_baselines.common.cmd_util, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], timeout=60).returncode == 0


class Failing(BaseCallback):
    """Raises FileNotFoundError in the method `when`."""

    def __init__(self, when: str) -> None:
        super().__init__()
        setattr(self, when, self._fail)

    def _fail(self) -> None:
        raise FileNotFoundError(2, "no such file", f"call {self.n_calls}")

    def _on_step(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("when", "calls"),
    [("_on_training_start", 0), ("_on_rollout_end", 5), ("_on_training_end", 20)],
)
def test_an_oserror_of_a_callback_ends_learning_as_any_other(
    when: str, calls: int, counting
) -> None:
    model = A2C("MlpPolicy", counting(3))
    with pytest.raises(FileNotFoundError, match=f"call {calls}'"):
        model.learn(20, callback=Failing(when))
    assert model.learn(10).num_timesteps == 10


@pytest.mark.parametrize("timesteps", [float("nan"), float("inf"), "100", -5, True])
def test_timesteps_that_are_none_are_refused_before_anything_is_written(
    tmp_path: Path, timesteps: Any
) -> None:
    model = A2C("MlpPolicy", "CartPole-v1", tensorboard_log=str(tmp_path / "events"))
    with pytest.raises(ValueError, match=r"learn: .*total_timesteps.* must be"):
        model.learn(timesteps)
    assert not (tmp_path / "events").exists()


def test_a_part_of_a_timestep_is_cut_off() -> None:
    assert A2C("MlpPolicy", "CartPole-v1").learn(0.1 * 101).num_timesteps == 10
