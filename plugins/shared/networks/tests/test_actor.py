"""The actor of a distribution: what it draws, from which stream, and what of it is kept."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.records import Field
from rlk_networks import Head, Linear
from rlk_networks.actor import DistributionActor
from rlk_testing.stand_ins import NoLayers


class TwoActions:
    """p(1) is the logistic function of the one parameter."""

    parameter_size, action = 1, Field((), "int64")

    def noise(self, rng, batch):
        return rng.random((batch, 1)).astype(np.float32)

    def sample(self, parameters, noise):
        return (noise < torch.sigmoid(parameters))[..., 0].long()

    def mode(self, parameters):
        return (parameters > 0)[..., 0].long()

    def log_prob(self, parameters, action):
        sign = 2.0 * action - 1.0
        return torch.nn.functional.logsigmoid(sign * parameters[..., 0])

    def env_action(self, action):
        return action + 7


@pytest.fixture
def policy():
    torch.manual_seed(0)
    space = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
    heads = {role: lambda trunk, role=role: head(trunk(role)) for role in ("pi", "vf")}
    return NoLayers().build(space, heads)


def head(trunk):
    return Head(trunk, Linear(trunk.features, 1))


def actor(policy, **keywords):
    return DistributionActor(policy, TwoActions(), np.random.default_rng(3), **keywords)


def observations(dtype=np.float32):
    return np.random.default_rng(1).normal(size=(40, 3)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sample_is_that_of_the_actors_own_stream(policy, dtype):
    act = actor(policy).act(observations(dtype), None, np.ones(40, bool))
    (parameters,) = policy(torch.from_numpy(observations()), "pi")
    noise = TwoActions().noise(np.random.default_rng(3), 40)
    expected = TwoActions().sample(parameters, torch.from_numpy(noise)).numpy()
    assert np.array_equal(act.action, expected) and len(set(expected.tolist())) == 2
    assert np.array_equal(act.env_action, act.action + 7)
    for extra in act.extras.values():
        assert extra.shape == (40,) and extra.dtype == np.float32


def test_the_deterministic_action_is_the_mode_and_keeps_nothing(policy):
    act = actor(policy).act(observations(), None, np.ones(40, bool), deterministic=True)
    (parameters,) = policy(torch.from_numpy(observations()), "pi")
    assert np.array_equal(act.action, (parameters[:, 0] > 0).long().numpy())
    assert act.extras == {}


def test_value_and_log_prob_are_those_of_the_policy(policy):
    act = actor(policy).act(observations(), None, np.ones(40, bool))
    parameters, value = policy(torch.from_numpy(observations()), "pi", "vf")
    assert np.allclose(act.extras["value"], value[:, 0].detach().numpy(), atol=1e-6)
    expected = TwoActions().log_prob(parameters, torch.from_numpy(act.action))
    assert np.allclose(act.extras["log_prob"], expected.detach().numpy(), atol=1e-6)


@pytest.mark.parametrize("extras", [("log_prob",), ("value",), ()])
def test_only_what_is_asked_for_is_kept(policy, extras):
    act = actor(policy, extras=extras).act(observations(), None, np.ones(40, bool))
    assert set(act.extras) == set(extras)
