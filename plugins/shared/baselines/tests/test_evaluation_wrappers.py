"""A program is warned if training and evaluation have environments in different wrappers."""

from __future__ import annotations

import warnings

import pytest

import rlk_sb3
from rlk_baselines import PPO2, SAC, gym
from rlk_baselines.common import make_vec_env
from rlk_baselines.common.callbacks import EvalCallback
from rlk_baselines.common.vec_env import VecFrameStack, VecNormalize, sync_envs_normalization
from rlk_sb3.common.callbacks import EvalCallback as EvalCallback3


def vector():
    return make_vec_env("Pendulum-v1", 1)


def evaluating(env, kind=EvalCallback):
    return kind(env, eval_freq=32, n_eval_episodes=1, verbose=0)


def small(env):
    return PPO2("MlpPolicy", env, n_steps=32, nminibatches=1)


def of_sb3(env):
    return rlk_sb3.PPO("MlpPolicy", env, n_steps=32, batch_size=32)


@pytest.mark.parametrize(("make", "kind"), [(small, EvalCallback), (of_sb3, EvalCallback3)])
def test_a_bare_evaluation_of_a_normalised_training_is_refused(make, kind) -> None:
    model, callback = make(VecNormalize(vector())), evaluating(vector(), kind)
    warned = pytest.warns(UserWarning, match="not of the same type: VecNormalize of DummyVecEnv")
    with warned, pytest.raises(AssertionError, match="there is no VecNormalize to copy"):
        model.learn(32, callback=callback)


def test_other_wrappers_are_warned_of() -> None:
    with pytest.warns(UserWarning, match="not of the same type: DummyVecEnv != VecNormalize of"):
        small(vector()).learn(32, callback=evaluating(VecNormalize(vector())))


def test_the_same_wrappers_are_not_warned_of_and_statistics_are_copied() -> None:
    normalised = VecNormalize(vector(), training=False)
    off = SAC("MlpPolicy", VecNormalize(vector()), learning_starts=5, batch_size=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        small(gym.make("Pendulum-v1")).learn(32, callback=evaluating(gym.make("Pendulum-v1")))
        off.learn(32, callback=evaluating(normalised))
    assert normalised.obs_rms.count == pytest.approx(33.0, abs=0.1)


def test_wrappers_in_another_order_do_not_go_together() -> None:
    one = VecNormalize(VecFrameStack(vector(), 2))
    other = VecFrameStack(VecNormalize(vector()), 2)
    with pytest.raises(AssertionError, match="VecNormalize of VecFrameStack of DummyVecEnv"):
        sync_envs_normalization(one, other)
