"""Callbacks that stop training, and the one that calls a function: as plugins and as objects."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rlk
from rlk.errors import PlanError
from rlk.hookspecs import hookimpl
from rlk_callbacks import (
    EvaluationCallback,
    EveryN,
    MaxEpisodes,
    StopOnNoImprovement,
    StopOnReward,
)
from rlk_callbacks.config import EvaluationConfig
from rlk_testing.environments import BY_ACTION_SPACE

MATCH = BY_ACTION_SPACE["Discrete"]  # episodes of 8 steps
SMALL: dict[str, Any] = {"env": MATCH, "seed": 0, "n_threads": 1, "n_steps": 8}


def made(*plugins: Any, **given: Any) -> rlk.Agent:
    return rlk.make("a2c", plugins=list(plugins), **{**SMALL, **given})


class Counting:
    """A run that has been trained before."""

    timesteps = 8
    plan = SimpleNamespace(env=None)


def evaluated(*returns: float) -> list[Any]:
    return [SimpleNamespace(mean_return=one) for one in returns]


def test_training_stops_when_an_evaluation_reaches_the_threshold() -> None:
    plugins = ("evaluation:every=16,episodes=1", "stop-on-reward:reward_threshold=-1")
    with made(*plugins) as agent:
        assert agent.learn(160).num_timesteps == 16
    with made("evaluation:every=16,episodes=1", "stop-on-reward:reward_threshold=99") as agent:
        assert agent.learn(48).num_timesteps == 48


def test_a_threshold_that_was_reached_does_not_stop_the_next_call() -> None:
    with made("evaluation:every=16,episodes=1", "stop-on-reward:reward_threshold=-1") as agent:
        for _ in range(2):
            assert agent.learn(160).num_timesteps == 16


def test_of_several_evaluations_the_one_that_is_asked_for_counts() -> None:
    first, second = SimpleNamespace(mean_return=1.0), SimpleNamespace(mean_return=9.0, number=2)
    for number, stops in ((1, False), (2, True)):
        on_reward = StopOnReward(reward_threshold=5.0, evaluation=number)
        on_none = StopOnNoImprovement(max_no_improvement_evals=0, evaluation=number)
        for result in (first, second, second):
            on_reward.rlk_evaluation_end(result)
            on_none.rlk_evaluation_end(Counting(), result)
        for callback in (on_reward, on_none):
            assert (callback.rlk_should_stop() is not None) is stops


def test_as_objects_they_serve_one_call() -> None:
    evaluation = EvaluationCallback(EvaluationConfig(every=16, episodes=1))
    with made() as agent:
        agent.learn(160, callback=[evaluation, StopOnReward(reward_threshold=-1.0)])
        assert agent.num_timesteps == 16
        assert agent.learn(80).num_timesteps == 80


def test_as_plugins_that_are_objects_they_know_each_other() -> None:
    evaluation = EvaluationCallback(EvaluationConfig(every=16, episodes=1))
    with made(evaluation, StopOnReward(reward_threshold=-1.0)) as agent:
        assert agent.learn(160).num_timesteps == 16


@pytest.mark.parametrize("callback", [StopOnReward(reward_threshold=1.0), StopOnNoImprovement()])
def test_in_a_call_without_evaluations_they_are_refused(callback: Any) -> None:
    with made() as agent:
        with pytest.raises(PlanError, match=r"stops after an evaluation, and there is none"):
            agent.learn(160, callback=callback)
        assert agent.num_timesteps == 0
    with made("evaluation:every=16,episodes=1") as agent:
        agent.learn(32, callback=callback)


class Own:
    """A callback that evaluates, of a class of its own."""

    evaluates = True

    @hookimpl
    def rlk_update_end(self, run: Any) -> None:
        run.notify("rlk_evaluation_end", result=evaluated(2.0)[0])


def test_a_callback_of_your_own_says_that_it_evaluates() -> None:
    with made() as agent:
        agent.learn(160, callback=[StopOnReward(reward_threshold=1.0), Own()])
        assert agent.num_timesteps == 8


def test_evaluations_without_a_new_best_are_counted_in_a_row() -> None:
    callback = StopOnNoImprovement(max_no_improvement_evals=2)
    answers = []
    for result in evaluated(1.0, 0.5, 2.0, 2.0, 1.0, 1.5):
        callback.rlk_evaluation_end(Counting(), result)
        answers.append(callback.rlk_should_stop())
    assert answers[:5] == [None] * 5  # two of them in a row are allowed
    assert answers[5] == "3 evaluations without a better return than 2"
    other = StopOnNoImprovement(max_no_improvement_evals=2)
    run: Any = Counting()
    other.rlk_load(run, callback.rlk_save())
    other.rlk_training_start(run)
    assert other.rlk_should_stop() == answers[5]
    run.timesteps = 0
    other.rlk_training_start(run)
    assert other.rlk_should_stop() is None, "a call that counts from 0 counts evaluations anew"
    callback.rlk_training_start(Counting())  # another run, which is not at 0, either
    assert callback.rlk_should_stop() is None


def test_the_first_evaluations_need_not_count() -> None:
    callback = StopOnNoImprovement(max_no_improvement_evals=0, min_evals=3)
    answers = []
    for result in evaluated(1.0, 0.0, 0.0, 0.0):
        callback.rlk_evaluation_end(Counting(), result)
        answers.append(callback.rlk_should_stop() is not None)
    assert answers == [False, False, False, True]


def test_training_stops_after_so_many_episodes_of_all_environments() -> None:
    with made("max-episodes:max_episodes=5", n_envs=2) as agent:
        agent.learn(1000)
        assert agent.run.clock.episodes == 6 and agent.num_timesteps == 48
    with made() as agent:
        agent.learn(24)
        agent.learn(1000, callback=MaxEpisodes(max_episodes=2))
        assert agent.run.clock.episodes == 3 + 2


def test_episodes_are_counted_anew_by_a_call_that_counts_from_0() -> None:
    with made("max-episodes:max_episodes=5") as agent:
        for played in (5, 10):
            assert agent.learn(1000).run.clock.episodes == played


def test_the_episodes_of_another_agent_do_not_count() -> None:
    callback = MaxEpisodes(max_episodes=3)
    with made() as first, made() as other:
        first.learn(1000, callback=callback)
        other.learn(40)
        other.learn(1000, callback=callback, reset_num_timesteps=False)
        assert (first.run.clock.episodes, other.run.clock.episodes) == (3, 5 + 3)


def test_the_episodes_of_a_run_before_its_checkpoint_count(tmp_path: Path) -> None:
    plugin = "max-episodes:max_episodes=5"
    with made(plugin) as agent:
        path = agent.learn(24).save_checkpoint(tmp_path / "kept")
    with rlk.load(path, env=MATCH, plugins=[plugin]) as agent:
        agent.learn(1000, reset_num_timesteps=False)
        assert agent.run.clock.episodes == 5


def test_a_function_is_called_past_every_multiple() -> None:
    seen: list[int] = []

    def call(run: Any) -> None:
        seen.append(run.timesteps)

    with made("every-n", n_envs=3, **{"every-n": {"n_steps": 10, "call": call}}) as agent:
        agent.learn(48)
    assert seen == [12, 21, 30, 42]


def test_multiples_are_those_of_the_run_however_often_it_is_continued(tmp_path: Path) -> None:
    seen: list[int] = []
    callback = EveryN(n_steps=10, call=lambda run: seen.append(run.timesteps))
    with made() as agent:
        path = agent.learn(24, callback=callback).save_checkpoint(tmp_path / "kept")
    with rlk.load(path, env=MATCH) as agent:
        agent.learn(24, callback=callback, reset_num_timesteps=False)
        assert seen == [10, 20, 30, 40]
        agent.learn(16, callback=callback)
        assert seen == [10, 20, 30, 40, 10]


@pytest.mark.parametrize("answer", [False, np.False_])
def test_it_stops_the_training_by_returning_false(answer: Any) -> None:
    with made() as agent:
        agent.learn(80, callback=EveryN(n_steps=20, call=lambda run: answer))
        assert agent.num_timesteps == 20


def test_what_would_never_act_is_refused() -> None:
    for plugin in ("stop-on-reward:reward_threshold=1", "stop-on-no-improvement"):
        with pytest.raises(PlanError, match="Use --plugin evaluation too"):
            made(plugin)
    with pytest.raises(PlanError, match="has nothing to call"):
        made("every-n")
    with pytest.raises(PlanError, match="has nothing to call"):
        EveryN(n_steps=20)
    for wrong in ("max-episodes:max_episodes=0", "stop-on-no-improvement:min_evals=-1"):
        with pytest.raises(PlanError):
            made(wrong, "evaluation")
