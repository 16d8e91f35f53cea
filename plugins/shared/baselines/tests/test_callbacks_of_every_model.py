"""Tests for every algorithm what the documentation says about `learn` and its callbacks."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces

import rlk_baselines
from rlk_baselines import A2C, HER, logger
from rlk_baselines.common.bit_flipping_env import BitFlippingEnv
from rlk_baselines.common.callbacks import (
    BaseCallback,
    CallbackList,
    EvalCallback,
    EventCallback,
    EveryNTimesteps,
    StopTrainingOnRewardThreshold,
)
from rlk_baselines.gail import ExpertDataset, generate_expert_traj

OFF = {"learning_starts": 6, "batch_size": 4, "train_freq": 2}
#: Model -> its arguments, steps per collection, and the unit of `log_interval`.
MODELS: dict[str, tuple[dict[str, Any], int, str]] = {
    "A2C": ({"n_steps": 4}, 4, "collections"),
    "ACER": ({"n_steps": 4, "replay_ratio": 0}, 4, "collections"),
    "ACKTR": ({"n_steps": 4}, 4, "collections"),
    "DDPG": ({"nb_rollout_steps": 4, "nb_train_steps": 1, "batch_size": 4}, 4, "collections"),
    "DQN": (OFF, 2, "episodes"),
    "GAIL": ({"timesteps_per_batch": 4}, 4, "every"),
    "HER": (OFF, 2, "episodes"),
    "PPO1": ({"timesteps_per_actorbatch": 4, "optim_batchsize": 4}, 4, "every"),
    "PPO2": ({"n_steps": 4, "nminibatches": 1}, 4, "collections"),
    "SAC": (OFF, 2, "episodes"),
    "TD3": ({**OFF, "gradient_steps": 2}, 2, "episodes"),
    "TRPO": ({"timesteps_per_batch": 4}, 4, "every"),
}
EVERY_MODEL = pytest.mark.parametrize("name", MODELS)
#: Results that stop a training.
STOPPING = {"False": False, "numpy's False": np.False_}


class Noting(BaseCallback):
    """Records its calls, and returns another result from some call on."""

    def __init__(self, at: int = 10**6, result: Any = False) -> None:
        super().__init__()
        self.at, self.result = at, result
        self.events = ""
        self.timesteps: list[int] = []

    def _init_callback(self) -> None:
        self.events += "i"

    def _on_training_start(self) -> None:
        self.events += "T"

    def _on_rollout_start(self) -> None:
        self.events += "<"

    def _on_step(self) -> Any:
        self.events += "."
        self.timesteps.append(self.num_timesteps)
        return True if self.n_calls < self.at else self.result

    def _on_rollout_end(self) -> None:
        self.events += ">"

    def _on_training_end(self) -> None:
        self.events += "E"


def env_of(name: str, counting: Any) -> Any:
    if name == "HER":
        return BitFlippingEnv(3, continuous=False, max_steps=3)
    env = counting()
    if name in ("DDPG", "SAC", "TD3"):
        env.action_space = spaces.Box(-1, 1, (1,), np.float32)
    return env


@pytest.fixture
def made(counting: Any) -> Any:
    """A model by its name, in an environment with episodes of 3 steps, or at most 3."""

    def make(name: str, **more: Any) -> Any:
        settings = {**MODELS[name][0], "seed": 0, "n_cpu_tf_sess": 1, **more}
        env = env_of(name, counting)
        if name == "HER":
            return HER("MlpPolicy", env, rlk_baselines.DQN, **settings)
        if name == "GAIL":
            shown = generate_expert_traj(lambda _: 0, None, counting(), n_episodes=4)
            dataset = ExpertDataset(traj_data=shown, verbose=0)
            settings["expert_dataset"] = dataset
        return getattr(rlk_baselines, name)("MlpPolicy", env, **settings)

    return make


@EVERY_MODEL
def test_callbacks_are_told_of_every_stage(name: str, made: Any) -> None:
    model, callback, steps = made(name), Noting(), MODELS[name][1]
    model.learn(8, callback=callback)
    rollouts = f"<{'.' * steps}>" * (8 // steps)
    assert callback.events == f"iT{rollouts}E"
    assert callback.timesteps == list(range(1, 9))  # one environment
    model.learn(8, callback=callback, reset_num_timesteps=False)
    assert callback.events == f"iT{rollouts}E" * 2
    assert callback.timesteps == list(range(1, 17)) and callback.n_calls == 16
    assert model.num_timesteps == callback.num_timesteps == 16
    model.learn(4, callback=callback)
    assert callback.timesteps[16:] == [1, 2, 3, 4] and model.num_timesteps == 4
    assert callback.model is model and callback.training_env is model.get_env()
    assert callback.logger is logger and callback.parent is None
    assert callback.locals["self"] is model and callback.locals["total_timesteps"] == 4
    assert callback.locals["reset_num_timesteps"] is True
    own = next(kind for kind in type(model).__mro__ if "algo" in vars(kind))
    assert callback.globals[own.__name__] is own


def passed(callback: Noting) -> list[Any]:
    """The ways in which a callback can be passed, each with this one in it."""

    def function(_locals: Any, _globals: Any) -> Any:
        callback.num_timesteps = _locals["self"].num_timesteps
        callback.n_calls += 1
        return callback._on_step()

    return [callback, [callback], [Noting(), callback], CallbackList([callback]), function]


@pytest.mark.parametrize("result", STOPPING.values(), ids=STOPPING)
@EVERY_MODEL
def test_false_stops_however_the_callback_is_passed(name: str, result: Any, made: Any) -> None:
    model = made(name)
    for number in range(len(passed(Noting()))):
        callback = Noting(3, result)
        other = Noting()
        model.learn(20, callback=[passed(callback)[number], other])
        assert callback.timesteps == [1, 2, 3] and model.num_timesteps == 3
        assert other.events.count(".") == 3 and other.events.endswith(".E")
    event = EventCallback(Noting(1, result))
    event._on_step = lambda: event._on_event() if event.n_calls == 5 else True
    assert model.learn(20, callback=event).num_timesteps == 5
    # As in Stable Baselines, None and values that are not booleans do not stop it.
    for goes_on in (None, 0):
        assert model.learn(4, callback=Noting(1, goes_on)).num_timesteps == 4


@EVERY_MODEL
def test_events_call_their_callback(name: str, made: Any) -> None:
    model, child = made(name), Noting()
    every = EveryNTimesteps(5, child)
    model.learn(16, callback=every)
    assert child.parent is every and child.events == "iT..."
    assert child.timesteps == [5, 10, 15] and child.n_calls == 3
    assert child.model is model and child.training_env is model.get_env()
    assert child.locals["self"] is model and child.globals and child.logger is logger


@EVERY_MODEL
def test_a_return_of_an_evaluation_stops_it(name: str, made: Any, counting: Any) -> None:
    model, reached = made(name), -1000.0 if name == "HER" else 3.0
    for threshold, steps in ((reached, 5), (1000.0, 8)):
        stop, evaluation = StopTrainingOnRewardThreshold(threshold), env_of(name, counting)
        callback = EvalCallback(evaluation, stop, n_eval_episodes=2, eval_freq=5, verbose=0)
        model.learn(8, callback=callback)
        assert model.num_timesteps == steps and stop.parent is callback
        assert callback.best_mean_reward == callback.last_mean_reward > -np.inf


# Not for HER, whose episodes may be shorter.
@pytest.mark.parametrize("name", [name for name in MODELS if name != "HER"])
@pytest.mark.parametrize(
    ("interval", "collections", "episodes"),
    # Collections of 4 steps, and episodes of 3 steps at borders of collections of 2.
    [(3, [12, 24, 32], [10, 18, 28, 32]), (2, [8, 16, 24, 32], [6, 12, 18, 24, 30, 32])],
)
def test_rows_come_at_the_interval(
    name: str,
    interval: int,
    collections: list[int],
    episodes: list[int],
    made: Any,
    capsys: pytest.CaptureFixture[str],
) -> None:
    capsys.readouterr()
    made(name, verbose=1).learn(32, log_interval=interval)
    names = r"total_timesteps|total timesteps|total/steps|steps"
    printed = re.findall(rf"\| (?:{names}) *\| (\d+)", capsys.readouterr().out)
    rows, steps, by = [int(found) for found in printed], *MODELS[name][1:]
    if by == "every":
        assert rows == list(range(steps, 33, steps))
    elif by == "collections":
        assert rows == collections
    else:
        assert rows == episodes


@EVERY_MODEL
def test_runs_have_folders_by_their_names(name: str, made: Any, tmp_path: Path) -> None:
    model = made(name, tensorboard_log=str(tmp_path))
    model.learn(4)
    model.learn(4, tb_log_name="second", reset_num_timesteps=True)
    model.learn(4, tb_log_name="second", reset_num_timesteps=False)
    assert sorted(one.name for one in tmp_path.iterdir()) == [f"{name}_1", "second_1"]
    files = list((tmp_path / "second_1").iterdir())
    assert files and all("tfevents" in one.name for one in files)


@EVERY_MODEL
def test_the_defaults_of_learn_are_the_documented_ones(name: str, made: Any) -> None:
    found: dict[str, Any] = {}
    made(name).learn(4, lambda variables, _: found.update(variables))
    rows = {"PPO2": 1, "SAC": 4, "TD3": 4}.get(name, 100)
    assert (found["log_interval"], found["tb_log_name"]) == (rows, name)
    shown = inspect.signature(getattr(rlk_baselines, name).learn).parameters
    assert (shown["log_interval"].default, shown["tb_log_name"].default) == (rows, name)


def test_a_derived_class_logs_to_the_folder_of_its_model(tmp_path: Path) -> None:
    class Mine(A2C):
        pass

    Mine("MlpPolicy", "CartPole-v1", tensorboard_log=str(tmp_path)).learn(10)
    assert [one.name for one in tmp_path.iterdir()] == ["A2C_1"]
