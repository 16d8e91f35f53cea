"""`EvalCallback` of Stable-Baselines3: monitors, vectors, successes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

from rlk.errors import PlanError
from rlk_baselines import PPO2
from rlk_baselines.common.callbacks import EvalCallback as EvalCallback210
from rlk_sb3 import PPO
from rlk_sb3.common.callbacks import (
    ConvertCallback,
    EvalCallback,
    StopTrainingOnNoModelImprovement,
)
from rlk_sb3.common.env_util import make_vec_env
from rlk_sb3.common.evaluation import evaluate_policy
from rlk_sb3.common.monitor import Monitor
from rlk_sb3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

SMALL: dict[str, Any] = {"n_steps": 8, "batch_size": 8, "n_epochs": 1}


class Tens(gymnasium.Env[Any, Any]):
    """Episodes of a given length with reward 10 per step; every other episode is a success."""

    observation_space = spaces.Box(-9, 9, (1,), np.float32)
    action_space = spaces.Discrete(2)
    episodes = 0

    def __init__(self, length: int = 2) -> None:
        self.length = length

    def reset(self, *, seed: Any = None, options: Any = None) -> Any:
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action: Any) -> Any:
        self.steps += 1
        is_over = self.steps == self.length
        self.episodes += is_over
        info = {"is_success": is_over and self.episodes % 2 == 1}
        return np.full(1, self.steps, np.float32), 10.0, is_over, False, info


def test_the_returns_of_a_monitor_count_not_the_normalised_ones(tmp_path: Path) -> None:
    env = VecNormalize(make_vec_env(Tens, 1))
    evaluation = EvalCallback(
        VecNormalize(make_vec_env(Tens, 1), training=False),
        eval_freq=16,
        n_eval_episodes=2,
        verbose=0,
    )
    model = PPO("MlpPolicy", env, **SMALL).learn(16, callback=evaluation)
    assert evaluation.last_mean_reward == 20.0
    assert evaluate_policy(model, evaluation.eval_env, n_eval_episodes=2) == (20.0, 0.0)


def test_several_environments_play_the_episodes_of_an_evaluation(tmp_path: Path) -> None:
    vector = DummyVecEnv([lambda: Tens(2), lambda: Tens(3)])
    evaluation = EvalCallback(
        vector, eval_freq=8, n_eval_episodes=4, log_path=str(tmp_path), verbose=0
    )
    PPO("MlpPolicy", Tens(), **SMALL).learn(16, callback=evaluation)
    found = np.load(tmp_path / "evaluations.npz")
    assert found["timesteps"].tolist() == [8, 16]
    assert [sorted(row) for row in found["results"].tolist()] == [[20, 20, 30, 30]] * 2
    assert [sorted(row) for row in found["ep_lengths"].tolist()] == [[2, 2, 3, 3]] * 2
    assert found["successes"].shape == (2, 4)
    assert found["successes"][0].tolist() == [True, True, False, False]
    with pytest.raises(PlanError, match="EvalCallback takes one environment, got 2"):
        EvalCallback210(vector)


def test_an_evaluation_records_its_mean_and_its_successes() -> None:
    model = PPO("MlpPolicy", Tens(), **SMALL)
    rows: list[dict[str, Any]] = []
    evaluation = EvalCallback(Tens(), eval_freq=8, n_eval_episodes=4, verbose=0)
    evaluation.init_callback(model)
    model.logger.dump = lambda step: rows.append(  # type: ignore[method-assign]
        {**model.logger.name_to_value, "step": step}
    )
    model._rows.is_given = True
    model.learn(8, callback=evaluation)
    (row, *_) = rows
    assert (row["eval/mean_reward"], row["eval/mean_ep_length"]) == (20.0, 2.0)
    assert (row["eval/success_rate"], row["step"]) == (0.5, 8)


def test_the_callback_of_an_evaluation_sees_one_environment_after_the_other() -> None:
    seen: list[tuple[int, float, bool]] = []
    vector = DummyVecEnv([lambda: Tens(2), lambda: Tens(3)])
    model = PPO("MlpPolicy", Tens(), **SMALL)

    def see(variables: dict[str, Any], _: Any) -> None:
        seen.append(tuple(variables[name] for name in ("i", "reward", "done")))

    evaluate_policy(model, vector, n_eval_episodes=2, callback=see)
    expected = [(0, 10, False), (1, 10, False), (0, 10, True), (1, 10, False), (1, 10, True)]
    assert seen == expected


def test_the_callback_of_an_evaluation_sees_what_led_to_the_action() -> None:
    seen: list[list[float]] = []

    class Counting:
        """Acts by the observation; takes its arguments by the names of Stable-Baselines3."""

        def predict(self, observation: Any, **keywords: Any) -> Any:
            assert {*keywords} == {"state", "episode_start", "deterministic"}
            return observation[:, 0].astype(int) % 2, None

    def see(variables: dict[str, Any], _: Any) -> None:
        names = ("observations", "actions", "new_observations", "episode_counts")
        seen.append([float(np.ravel(variables[name])[0]) for name in names])

    evaluate_policy(Counting(), Tens(2), n_eval_episodes=2, callback=see)
    assert seen == [[0, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 0, 1]]


def test_an_evaluation_without_a_monitor_causes_a_warning() -> None:
    model = PPO("MlpPolicy", Tens(), **SMALL)
    with pytest.warns(UserWarning, match=r"not in a Monitor.*Write Monitor\(env\)"):
        evaluate_policy(model, Tens(), n_eval_episodes=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_policy(model, Tens(), n_eval_episodes=1, warn=False)
        evaluate_policy(model, Monitor(Tens()), n_eval_episodes=1)
        evaluate_policy(model, VecMonitor(DummyVecEnv([Tens])), n_eval_episodes=1)
        evaluate_policy(model, make_vec_env(Tens, 2), n_eval_episodes=1)
    evaluation = EvalCallback(DummyVecEnv([Tens]), eval_freq=4, verbose=0)
    with pytest.warns(UserWarning, match="not in a Monitor") as found:
        PPO("MlpPolicy", Tens(), **SMALL).learn(4, callback=evaluation)
    assert {one.filename for one in found} == {__file__}


def test_an_evaluation_counts_the_episodes_of_the_monitor() -> None:
    class Halves(gymnasium.Wrapper[Any, Any, Any, Any]):
        """Ends an episode after two steps, and continues that of the environment inside."""

        is_over = True

        def reset(self, **keywords: Any) -> Any:
            self.steps = 0
            return self.env.reset(**keywords) if self.is_over else (np.zeros(1, np.float32), {})

        def step(self, action: Any) -> Any:
            observation, reward, self.is_over, _, info = self.env.step(action)
            self.steps += 1
            return observation, reward, self.is_over or self.steps == 2, False, info

    model = PPO("MlpPolicy", Tens(), **SMALL)
    assert evaluate_policy(model, Halves(Monitor(Tens(4))), n_eval_episodes=2) == (40.0, 0.0)
    assert evaluate_policy(model, Halves(Tens(4)), n_eval_episodes=2) == (20.0, 0.0)


def test_what_is_called_after_an_evaluation_sees_the_variables_of_training() -> None:
    class Looking(StopTrainingOnNoModelImprovement):
        def _on_step(self) -> bool:
            assert "rewards" in self.locals
            return super()._on_step()

    stop = Looking(max_no_improvement_evals=0)
    evaluation = EvalCallback(
        Tens(), callback_after_eval=stop, eval_freq=4, n_eval_episodes=1, verbose=0
    )
    model = PPO("MlpPolicy", Tens(), **SMALL).learn(100, callback=evaluation)
    assert model.num_timesteps == 8
    with pytest.raises(PlanError, match=r"EvalCallback\(env, callback_after_eval=…\)"):
        PPO("MlpPolicy", Tens(), **SMALL).learn(8, callback=StopTrainingOnNoModelImprovement(1))


def test_evaluations_of_stable_baselines_2_write_what_they_did(counting, tmp_path: Path) -> None:
    evaluation = EvalCallback210(
        counting(), eval_freq=8, n_eval_episodes=1, log_path=str(tmp_path), verbose=0
    )
    PPO2("MlpPolicy", counting(), n_steps=8, nminibatches=1).learn(8, callback=evaluation)
    assert {*np.load(tmp_path / "evaluations.npz")} == {"timesteps", "results", "ep_lengths"}


def test_a_callback_after_an_evaluation_that_returns_none_overrules_no_other_one() -> None:
    class Quiet(ConvertCallback):
        def _on_step(self) -> None:  # type: ignore[override]
            return None

    def learn(goes_on: bool) -> int:
        after = Quiet(lambda *_: None)
        best = ConvertCallback(lambda *_: goes_on)
        callback = EvalCallback(Tens(), best, after, eval_freq=3, n_eval_episodes=1, verbose=0)
        return PPO("MlpPolicy", Tens(), **SMALL).learn(8, callback=callback).num_timesteps

    assert (learn(False), learn(True)) == (3, 8)


def test_lengths_are_those_of_the_monitor_inside_a_wrapper_that_skips_frames() -> None:
    class Twice(gymnasium.Wrapper[Any, Any, Any, Any]):
        def step(self, action: Any) -> Any:
            self.env.step(action)
            return self.env.step(action)

    model = PPO("MlpPolicy", Tens(), **SMALL)
    found = evaluate_policy(model, Twice(Monitor(Tens(4))), 2, return_episode_rewards=True)
    assert found == ([40.0, 40.0], [4, 4])


class Asked:
    """Notes what it is asked; its state counts the calls."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def predict(
        self, observation: Any, state: Any, episode_start: Any, deterministic: bool
    ) -> tuple[Any, Any]:
        self.seen.append((state, episode_start.tolist(), deterministic))
        return np.zeros(len(observation), int), (state or 0) + 1


def evaluated(model: Any, *envs: Any, **keywords: Any) -> Any:
    return evaluate_policy(model, DummyVecEnv([lambda env=env: env for env in envs]), **keywords)


def test_each_environment_plays_its_share_and_the_last_ones_one_more(counting: Any) -> None:
    model, asked = Asked(), {"warn": False, "return_episode_rewards": True}
    returns, lengths = evaluated(model, counting(2), counting(3), n_eval_episodes=3, **asked)
    assert (sorted(returns), sorted(lengths)) == ([2.0, 3.0, 3.0], [2, 3, 3])
    starts = [[True, True], [False, False], [True, False], [False, True], [True, False]]
    expected = [(None, starts[0], True), *((i, starts[i], True) for i in (1, 2, 3, 4))]
    assert model.seen == [*expected, (5, [False, False], True)]


def test_the_loss_of_a_life_ends_no_episode_without_a_monitor(counting: Any) -> None:
    class Lives(counting):  # type: ignore[misc]
        lost = 0

        def step(self, action: Any) -> Any:
            *rest, done, info = super().step(action)
            self.lost += done
            return *rest, done, {**info, "goes_on": self.lost % 2 == 1}

    found = evaluated(Asked(), Lives(2), n_eval_episodes=2, return_episode_rewards=True)
    assert found == ([4.0, 4.0], [4, 4]), "each of two lives"


def test_a_threshold_has_to_be_exceeded_there_too(counting: Any) -> None:
    keywords: dict[str, Any] = {"n_eval_episodes": 2, "warn": False}
    assert evaluated(Asked(), counting(), reward_threshold=2.99, **keywords) == (3.0, 0.0)
    with pytest.raises(AssertionError, match="below threshold"):
        evaluated(Asked(), counting(), reward_threshold=3.0, **keywords)
