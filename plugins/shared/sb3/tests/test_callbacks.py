"""Callbacks of Stable-Baselines3: which is called when, by whom, and what it finds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk.errors import PlanError
from rlk_sb3 import A2C, DQN, PPO, SAC
from rlk_sb3.common.callbacks import (
    BaseCallback,
    CallbackList,
    CheckpointCallback,
    EvalCallback,
    LogEveryNTimesteps,
    StopTrainingOnNoModelImprovement,
    StopTrainingOnRewardThreshold,
)
from rlk_sb3.common.logger import KVWriter, Logger
from rlk_sb3.common.vec_env import DummyVecEnv


class Seen(BaseCallback):
    """Notes when it is called, with what parent."""

    def __init__(self, result: Any = True) -> None:
        super().__init__()
        self.result, self.calls = result, []  # type: ignore[var-annotated]

    def _on_training_start(self) -> None:
        self.calls.append(("start", self.num_timesteps))

    def _on_step(self) -> Any:
        self.calls.append(("step", self.num_timesteps))
        return self.result


class Rows(KVWriter):
    """Keeps the timesteps of rows."""

    def __init__(self) -> None:
        self.steps: list[int] = []

    def write(self, key_values: dict[str, Any], key_excluded: Any, step: int = 0) -> None:
        self.steps.append(step)


def small(counting: Any, **settings: Any) -> PPO:
    settings = {"n_steps": 8, "batch_size": 8, "n_epochs": 1, **settings}
    return PPO("MlpPolicy", counting(), policy_kwargs={"net_arch": [4]}, **settings)


def evaluation(counting: Any, **keywords: Any) -> EvalCallback:
    return EvalCallback(counting(), n_eval_episodes=1, eval_freq=4, verbose=0, **keywords)


class Misspelt(BaseCallback):
    """Has no `_on_step`."""

    def _on_stp(self) -> bool:
        return False


def test_a_callback_without_on_step_is_refused_wherever_it_is(counting: Any) -> None:
    for callback in (
        Misspelt(),
        [Misspelt()],
        evaluation(counting, callback_after_eval=Misspelt()),
    ):
        with pytest.raises(PlanError, match="callback Misspelt has no method _on_step"):
            small(counting).learn(8, callback=callback)


def test_callbacks_in_a_list_have_the_lists_parent(counting: Any) -> None:
    best, after = Seen(), Seen()
    tell = evaluation(
        counting,
        callback_on_new_best=CallbackList([best, StopTrainingOnRewardThreshold(1e9)]),
        callback_after_eval=CallbackList([after, StopTrainingOnNoModelImprovement(0)]),
    )
    assert small(counting).learn(64, callback=tell).num_timesteps == 8
    assert best.parent is tell and after.parent is tell


def test_both_callbacks_of_an_evaluation_see_the_start_of_the_training(counting: Any) -> None:
    best, after = Seen(), Seen()
    tell = evaluation(counting, callback_on_new_best=best, callback_after_eval=after)
    model = small(counting).learn(8, callback=tell)
    assert best.calls == [("start", 0), ("step", 4)]
    assert after.calls == [("start", 0), ("step", 4), ("step", 8)]
    assert tell.callback is after and tell.callback_on_new_best is best
    model.learn(8, callback=tell, reset_num_timesteps=False)
    assert after.calls[3:] == [("start", 8), ("step", 12), ("step", 16)]
    fresh = Seen()
    model.learn(1, callback=fresh, reset_num_timesteps=False)
    assert fresh.calls[0] == ("start", 16), "before its first step"


def test_a_new_best_that_stops_the_training_is_the_last_call(counting: Any) -> None:
    after = Seen()
    tell = evaluation(counting, callback_on_new_best=Seen(False), callback_after_eval=after)
    assert small(counting).learn(64, callback=tell).num_timesteps == 4
    assert after.calls == [("start", 0)]


def test_torchs_false_stops_the_training(counting: Any) -> None:
    stop = Seen(torch.tensor(2.0) < 1)
    assert small(counting).learn(64, callback=stop).num_timesteps == 1
    assert small(counting).learn(16, callback=Seen(torch.tensor(True))).num_timesteps == 16


def test_checkpoints_of_replays_are_loaded_by_the_names_of_stable_baselines3(
    counting: Any, tmp_path: Path
) -> None:
    model = DQN("MlpPolicy", counting(), buffer_size=50, policy_kwargs={"net_arch": [4]})
    model.learn(12, callback=CheckpointCallback(6, str(tmp_path), "a", save_replay_buffer=True))
    path = tmp_path / "a_replay_buffer_12_steps.pkl"
    assert path.is_file()
    other: Any = DQN("MlpPolicy", counting(), buffer_size=50, policy_kwargs={"net_arch": [4]})
    other.load_replay_buffer(path)
    assert other.replay_buffer.size() == 11  # as there, a step is stored after its callback


@pytest.mark.parametrize(
    ("interval", "expected"),
    [({}, [8, 16]), ({"log_interval": 2}, [16]), ({"log_interval": None}, [16])],
)
def test_rows_come_at_the_log_interval(counting: Any, interval: Any, expected: Any) -> None:
    rows, model = Rows(), small(counting)
    model.set_logger(Logger(None, [rows]))
    model.learn(16, **interval)
    assert rows.steps == expected


def test_rows_every_n_timesteps(counting: Any) -> None:
    rows, model = Rows(), small(counting)
    model.set_logger(Logger(None, [rows]))
    model.learn(16, callback=LogEveryNTimesteps(5), log_interval=None)
    assert rows.steps == [5, 10, 15, 16]
    model.dump_logs()
    assert rows.steps == [5, 10, 15, 16, 16]


def seen_by(model: Any, steps: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    model.learn(steps, callback=lambda variables, _: found.append(dict(variables)))
    return found


def test_callbacks_find_the_variables_of_on_policy_loops(counting: Any) -> None:
    vector = DummyVecEnv([counting, counting])
    model = PPO("MlpPolicy", vector, n_steps=2, batch_size=4, n_epochs=1, seed=0)
    first, second, third, _ = seen_by(model, 8)
    assert first["env"] is vector
    assert [one["n_steps"] for one in (first, second, third)] == [0, 1, 0]
    assert [one["iteration"] for one in (first, second, third)] == [0, 0, 1]
    assert first["n_rollout_steps"] == 2
    assert first["obs_tensor"].tolist() == [[0, 7], [0, 7]]
    assert second["obs_tensor"].tolist() == first["new_obs"].tolist() == [[1, 7], [1, 7]]
    assert first["values"].shape == (2, 1) and first["log_probs"].shape == (2,)
    torch.testing.assert_close(first["log_probs"], -torch.as_tensor(first["neglogpacs"]))


def test_callbacks_of_a2c_find_log_probabilities_that_it_does_not_store(counting: Any) -> None:
    model = A2C("MlpPolicy", DummyVecEnv([counting, counting]), n_steps=2, seed=0)
    first = seen_by(model, 4)[0]
    before = A2C("MlpPolicy", DummyVecEnv([counting, counting]), n_steps=2, seed=0).policy
    _, expected, _ = before.evaluate_actions(first["obs_tensor"], torch.as_tensor(first["actions"]))
    torch.testing.assert_close(first["log_probs"], expected.detach())


def test_callbacks_find_the_variables_of_off_policy_loops() -> None:
    model: Any = SAC("MlpPolicy", "Pendulum-v1", buffer_size=300, train_freq=2, learning_starts=9)
    found = seen_by(model, 4)
    for one in found:  # Pendulum's actions go to 2
        np.testing.assert_allclose(one["actions"], 2.0 * one["buffer_actions"], rtol=1e-6)
        np.testing.assert_array_equal(one["actions"], one["clipped_actions"])
    assert [one["num_collected_steps"] for one in found] == [1, 2, 1, 2]
    assert found[0]["learning_starts"] == 9 and found[3]["replay_buffer"].size() == 4
    stored = {round(float(one), 5) for one in model.replay_buffer.sample(300).actions}
    assert stored == {round(float(one["buffer_actions"][0, 0]), 5) for one in found}


def test_what_stops_without_improvement_says_that_an_evaluation_calls_it(counting) -> None:
    callback = StopTrainingOnNoModelImprovement(1)
    with pytest.raises(PlanError, match=r"EvalCallback\(env, callback_after_eval=…\)"):
        A2C("MlpPolicy", counting()).learn(10, callback=callback)
