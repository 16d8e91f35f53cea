"""Warnings name the line of the program, not one of this package."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import rlk_baselines
import rlk_sb3
from rlk_baselines import gym
from rlk_baselines.common.callbacks import EvalCallback
from rlk_baselines.common.vec_env import DummyVecEnv, VecCheckNan, VecFrameStack


def pickled(folder: Path) -> Any:
    model = rlk_baselines.A2C("MlpPolicy", "CartPole-v1")
    model.save(folder / "model", cloudpickle=True)
    return folder / "model.pkl"


def learnt_without_replay() -> Any:
    model = rlk_baselines.ACER(
        "MlpPolicy", "CartPole-v1", n_steps=4, buffer_size=40, replay_start=4
    )
    model.replay_ratio = 0
    return model.learn(8)


def learnt_without_schedule(folder: Path) -> Any:
    model = rlk_baselines.A2C("MlpPolicy", "CartPole-v1", learning_rate=lambda rest: rest)
    model.save(folder / "model")
    return rlk_baselines.A2C.load(folder / "model", env="CartPole-v1").learn(8)


def learnt_with_other_wrappers() -> Any:
    env = VecFrameStack(DummyVecEnv([lambda: gym.make("CartPole-v1")]), 1)
    callback = EvalCallback(DummyVecEnv([lambda: gym.make("CartPole-v1")]))
    return rlk_baselines.A2C("MlpPolicy", env).learn(5, callback=callback)


def acted_with_nan() -> Any:
    env = VecCheckNan(DummyVecEnv([lambda: gym.make("Pendulum-v1")]))
    env.reset()
    env.step([[float("nan")]])


@pytest.mark.parametrize(
    "call",
    [
        lambda _: rlk_sb3.A2C("MlpPolicy", "CartPole-v1", sde_sample_freq=4),
        lambda _: rlk_baselines.DQN("MlpPolicy", "CartPole-v1", prioritized_replay_alpha=0.1),
        lambda folder: rlk_baselines.A2C.load(pickled(folder)),
        lambda folder: rlk_baselines.A2C("MlpPolicy", "CartPole-v1").load_parameters(
            pickled(folder)
        ),
        lambda _: gym.make("Pendulum-v0"),
        lambda _: learnt_without_replay(),
        learnt_without_schedule,
        lambda _: learnt_with_other_wrappers(),
        lambda _: acted_with_nan(),
        lambda _: rlk_baselines.DDPG("MlpPolicy", "Pendulum-v1", memory_limit=500),
    ],
)
def test_a_warning_is_at_the_line_of_the_program(
    call: Callable[[Path], Any], tmp_path: Path
) -> None:
    with pytest.warns(Warning) as said:
        call(tmp_path)
    assert {one.filename for one in said} == {__file__}
