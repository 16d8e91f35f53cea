from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk.records import Field
from rlk_networks import Head, Linear
from rlk_networks.actor import DistributionActor
from rlk_on_policy.minibatches import epochs, flat, minibatches_ahead
from rlk_rollout.rollout import Rollout
from rlk_testing import NoLayers

T, N = 5, 2


def rollout(observation=None):
    number = np.arange(T * N, dtype=np.float32).reshape(T, N)
    flags = np.zeros((T, N), bool)
    return Rollout(
        observation=number[..., None] if observation is None else observation,
        action=number.astype(np.int64),
        reward=number,
        terminated=flags,
        truncated=flags,
        next_observation=np.zeros((N, 1), np.float32),
        final_time=np.empty(0, np.int64),
        final_env=np.empty(0, np.int64),
        final_observation=np.empty((0, 1), np.float32),
        extras={"value": 10 * number, "log_prob": -number},
    )


def test_minibatches_of_a_run_are_foreseen():
    assert minibatches_ahead(100, 32, 3, 4) == (4 * 3 * 4, 8)  # four collections
    assert minibatches_ahead(0, 32, 3, 4) == (0, 8)


def test_a_flat_rollout_keeps_every_transition_together():
    whole = flat(rollout(), advantage=100 * np.arange(10, dtype=np.float32).reshape(T, N))
    number = torch.arange(10.0)
    assert torch.equal(whole.observation, number[:, None])
    assert torch.equal(whole.action, number.long())
    assert torch.equal(whole.advantage, 100 * number)
    assert torch.equal(whole.value, 10 * number)
    assert torch.equal(whole.log_prob, -number)


def test_returns_are_advantages_and_values():
    whole = flat(rollout(), advantage=np.ones((T, N), np.float32))
    assert torch.equal(whole.return_, 1 + 10 * torch.arange(10.0))


def parts(n_epochs, n_minibatches, seed=0, **keywords):
    whole = flat(rollout(**keywords), advantage=np.zeros((T, N), np.float32))
    return list(epochs(whole, n_epochs, n_minibatches, np.random.default_rng(seed)))


def test_every_epoch_has_every_transition_once():
    found = parts(3, 5)
    assert len(found) == 15
    for epoch in range(3):
        actions = torch.cat([part.action for part in found[5 * epoch : 5 * epoch + 5]])
        assert sorted(actions.tolist()) == list(range(10))


def test_a_remainder_is_spread_so_that_sizes_differ_by_one():
    sizes = [len(part.action) for part in parts(1, 4)]
    assert sum(sizes) == 10 and set(sizes) == {2, 3}


def test_fields_of_a_minibatch_belong_to_the_same_transitions():
    for part in parts(2, 3):
        assert torch.equal(part.value, 10.0 * part.action)
        assert torch.equal(part.log_prob, -part.action.float())
        assert torch.equal(part.observation[:, 0], part.action.float())


def test_epochs_are_shuffled_anew_by_the_stream_alone():
    one, two, other = parts(2, 1), parts(2, 1), parts(2, 1, seed=1)
    assert torch.equal(one[0].action, two[0].action) and torch.equal(one[1].action, two[1].action)
    assert not torch.equal(one[0].action, one[1].action)
    assert not torch.equal(one[0].action, other[0].action)


def test_observations_that_are_dicts_stay_dicts():
    number = np.arange(T * N, dtype=np.float32).reshape(T, N)
    for part in parts(1, 2, observation={"a": number[..., None], "b": number}):
        assert torch.equal(part.observation["a"][:, 0], part.action.float())
        assert torch.equal(part.observation["b"], part.action.float())


# ---- the actor -----------------------------------------------------------------------------------


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
