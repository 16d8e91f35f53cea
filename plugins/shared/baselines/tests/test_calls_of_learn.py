"""Calls of `learn`: within each other, with callbacks that fail, with arguments of other types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rlk_sb3
from rlk import hookimpl
from rlk_baselines import A2C, DDPG, DQN, PPO2
from rlk_baselines.common.callbacks import BaseCallback


def test_a_call_within_another_is_refused_and_the_outer_one_goes_on() -> None:
    refusals, calls = [], []

    def callback(local: Any, _: Any) -> bool:
        calls.append(1)
        if len(calls) == 3:
            with pytest.raises(ValueError, match="learn is running already") as refused:
                local["self"].learn(5)
            refusals.append(refused)
        return True

    model = PPO2("MlpPolicy", "CartPole-v1", n_steps=8, nminibatches=1)
    model.learn(32, callback)
    assert (len(refusals), len(calls), model.num_timesteps) == (1, 32, 32)


def test_a_callback_that_cannot_begin_changes_nothing() -> None:
    class Fails(BaseCallback):
        def _init_callback(self) -> None:
            raise RuntimeError("no file")

    model = A2C("MlpPolicy", "CartPole-v1").learn(20)
    before = model.num_timesteps, model.agent.plan.log_interval
    cumulative = model.agent.run.clock.cumulative_timesteps
    with pytest.raises(RuntimeError, match="no file"):
        model.learn(10, Fails(), log_interval=None)
    assert (model.num_timesteps, model.agent.plan.log_interval) == before
    assert model.agent.run.clock.cumulative_timesteps == cumulative


def test_another_plugin_that_watches_hears_of_steps_too() -> None:
    class StepWatcher:
        n_steps = 0

        @hookimpl
        def rlk_step(self) -> None:
            self.n_steps += 1

    class WithAnother(A2C):
        def _plugins(self) -> list[Any]:
            return [*super()._plugins(), other]

    other = StepWatcher()
    model = WithAnother("MlpPolicy", "CartPole-v1").learn(10)
    model.learn(5, lambda *_: True)
    assert other.n_steps == 15


def test_the_timesteps_of_all_calls_are_never_counted_from_0_again() -> None:
    model, cumulative = A2C("MlpPolicy", "CartPole-v1"), []
    for _ in range(3):
        model.learn(20)
        cumulative.append(model.agent.run.clock.cumulative_timesteps)
    model.num_timesteps = 0
    model.learn(20, reset_num_timesteps=False)
    cumulative.append(model.agent.run.clock.cumulative_timesteps)
    assert (model.num_timesteps, cumulative) == (20, [20, 40, 60, 80])


@pytest.mark.parametrize("interval", ["often", 0.5, -1])
def test_an_interval_of_rows_that_is_no_whole_number_is_refused(interval: Any) -> None:
    model = A2C("MlpPolicy", "CartPole-v1").learn(5)
    with pytest.raises(ValueError, match=f"log_interval must be a whole number .*{interval}"):
        model.learn(5, log_interval=interval)
    assert model.num_timesteps == 5


def test_rates_may_be_numbers_of_numpy() -> None:
    seen = []
    model = PPO2("MlpPolicy", "CartPole-v1", n_steps=8, cliprange_vf=np.float32(0.25))
    model.learn(8, lambda local, _: seen.append(local["cliprange_vf"](0.5)) is None)
    assert seen and set(seen) == {0.25}


def during(model: Any, **attributes: Any) -> None:
    """Set attributes in the first step of a call of `learn`."""

    def callback(local: Any, _: Any) -> bool:
        for name, value in attributes.items():
            with pytest.raises(ValueError, match=f"{name} cannot be set"):
                setattr(local["self"], name, value)
        return False

    model.learn(8, callback)


def test_what_only_the_model_uses_cannot_be_set_while_it_learns() -> None:
    during(DDPG("MlpPolicy", "Pendulum-v1", eval_env="Pendulum-v1"), nb_eval_steps=9)
    during(rlk_sb3.A2C("MlpPolicy", "CartPole-v1"), stats_window_size=2)
    during(rlk_sb3.DQN("MlpPolicy", "CartPole-v1", n_steps=3), n_steps=1)


def test_a_refused_environment_is_not_the_one_that_a_seed_is_for() -> None:
    model = DQN("MlpPolicy", "CartPole-v1")
    used = model._agent_env
    with pytest.raises(ValueError, match="observation_space of environment 'Pendulum-v1'"):
        model.set_env("Pendulum-v1")
    assert model._agent_env is used
    model.set_random_seed(3)
    assert used.is_seeded
