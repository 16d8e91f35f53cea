"""The heads of actor-critics, and advantages from a rollout in one call."""

from __future__ import annotations

from types import SimpleNamespace

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.running.clock import Clock
from rlk.running.metrics import Metrics
from rlk_categorical.distribution import Categorical
from rlk_on_policy.advantages import advantages, logged_advantages
from rlk_on_policy.heads import actor_critic
from rlk_rollout.rollout import Rollout
from rlk_testing.stand_ins import NoLayers


def policy():
    """V(s) = 10 s."""
    heads = actor_critic(Categorical(gym.spaces.Discrete(3)))
    made = NoLayers().build(gym.spaces.Box(-9.0, 9.0, (1,), np.float32), heads)
    with torch.no_grad():
        made.vf.out.weight.fill_(10.0)
    return made


def test_the_policys_head_gives_parameters_and_the_other_one_value():
    parameters, value = policy()(torch.ones(4, 1), "pi", "vf")
    assert parameters.shape == (4, 3) and value.shape == (4, 1)
    assert value[:, 0].tolist() == [10.0] * 4


def test_each_head_has_the_layers_of_its_role():
    asked = []

    def trunk(role, **_):
        asked.append(role)
        return NoLayers().trunk(role, 2)

    heads = actor_critic(Categorical(gym.spaces.Discrete(3)))
    assert list(heads) == ["pi", "vf"]
    for make in heads.values():
        make(trunk)
    assert asked == ["pi", "vf"]


def two_steps(terminated):
    """Two steps of one environment; the first ends its episode on 0.5, the second goes on to 2."""
    ended = np.array([[True], [False]])
    return Rollout(
        observation=np.array([[[0.1]], [[0.2]]], np.float32),
        action=np.zeros((2, 1), np.int64),
        reward=np.array([[1.0], [1.0]], np.float32),
        terminated=ended & terminated,
        truncated=ended & (not terminated),
        next_observation=np.array([[2.0]], np.float32),
        final_time=np.array([0]),
        final_env=np.array([0]),
        final_observation=np.array([[0.5]], np.float32),
        extras={"value": np.array([[1.0], [2.0]], np.float32)},
    )


@pytest.mark.parametrize("terminated", [True, False])
def test_advantages_bootstrap_from_what_follows_and_from_what_was_cut_off(terminated):
    found = advantages(two_steps(terminated), policy(), gamma=0.5, lam=0.5)
    # 1 + 0.5 * V(0.5) - 1 where it was cut off, without V where it terminated; 1 + 0.5 * 20 - 2.
    assert found[:, 0].tolist() == pytest.approx([0.0 if terminated else 2.5, 9.0])


def test_logged_advantages_are_those_of_the_run_and_tell_how_good_the_values_were():
    run = SimpleNamespace(policy=policy(), device="cpu", metrics=Metrics(Clock(1)))
    found = logged_advantages(run, two_steps(False), gamma=0.5, lam=0.5)
    assert found[:, 0].tolist() == pytest.approx([2.5, 9.0])
    # Values of 1 and 2, returns of 3.5 and 11, or of 1 and 11 where the episode terminated.
    first, second = 1.0 - 3.25**2 / 3.75**2, 1.0 - 4.5**2 / 5.0**2
    assert run.metrics.take_row() == {"train/explained_variance": pytest.approx(first)}
    for terminated in (False, True):
        logged_advantages(run, two_steps(terminated), gamma=0.5, lam=0.5)
    assert run.metrics.take_row() == {
        "train/explained_variance": pytest.approx((first + second) / 2)
    }


def test_returns_that_are_all_the_same_are_left_out_of_the_explained_variance():
    run = SimpleNamespace(policy=policy(), device="cpu", metrics=Metrics(Clock(1)))
    alike = two_steps(True)
    alike.reward[:] = [[11.0], [1.0]]
    found = logged_advantages(run, alike, gamma=0.5, lam=0.5)
    assert (found + alike.extras["value"]).tolist() == [[11.0], [11.0]]
    assert run.metrics.take_row() == {}
