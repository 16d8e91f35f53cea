"""A copy of a policy on another device: here also on the CPU, where it can be compared."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rlk_networks.actor import DistributionActor
from rlk_numpy_acting.actors import heads_used, in_numpy
from rlk_numpy_acting.cpu_copy import MAX_ENVS, CpuCopy, FollowingActor, pieces, with_copy
from rlk_numpy_acting.policies import hooks_of
from rlk_off_policy.actor import DeterministicActor, GreedyActor
from rlk_testing.environments import BY_ACTION_SPACE

N = 4
RUNS = {
    "dqn": {"env": BY_ACTION_SPACE["Discrete"], "learning_starts": 20, "buffer_size": 100},
    "td3": {"env": BY_ACTION_SPACE["Box"], "learning_starts": 20, "buffer_size": 200},
    "ppo2": {"env": BY_ACTION_SPACE["Box"], "n_steps": 16, "n_envs": N},
    "a2c": {"env": BY_ACTION_SPACE["Box"], "n_envs": N, "plugins": ["normalize"]},
}
every = pytest.mark.parametrize("algo", RUNS)


@pytest.fixture
def pair(rlk_make, algo):
    """The run, its actor in torch, and one with a copy of the policy."""
    settings = {"plugins": [], **RUNS[algo]}
    settings["plugins"] = [*settings["plugins"], "no:numpy-acting"]
    agent = rlk_make(algo, seed=1, **settings)
    original = agent.run.make_actor()
    copied = CpuCopy(original.policy, *heads_used(original))
    return agent, original, FollowingActor(original, in_numpy(with_copy(original, copied)), copied)


def seen(agent, n=N):
    shape = agent.run.env.single_observation_space.shape
    return np.random.default_rng(3).standard_normal((n, *shape), np.float32)


def acted(actor, observation):
    return actor.act(observation, None, np.zeros(len(observation), bool), True).env_action


@every
def test_arguments_may_be_named(pair):
    agent, _, follower = pair
    observation, start = seen(agent), np.zeros(N, bool)
    named = follower.act(observation, carry=None, episode_start=start, deterministic=True)
    assert np.array_equal(named.env_action, acted(follower, observation))


@every
def test_it_acts_as_the_original_after_every_change(pair):
    agent, original, follower = pair
    observation, found = seen(agent), []
    for _ in range(3):
        agent.learn(64)
        found.append(acted(follower, observation))
        np.testing.assert_allclose(found[-1], acted(original, observation), atol=1e-5)
    if original.__class__ is not GreedyActor:
        assert not np.allclose(found[0], found[-1], atol=1e-5)


@every
def test_it_is_a_copy_that_changes_when_it_is_told(pair):
    agent, original, follower = pair
    observation = seen(agent)
    before = acted(follower, observation)
    with torch.no_grad():
        agent.run.parameters.flat.mul_(-1.7)
    replacement = follower._replacement
    assert np.array_equal(acted(replacement, observation), before)
    follower._copied.follow()
    np.testing.assert_allclose(
        acted(replacement, observation), acted(original, observation), atol=1e-5
    )


@every
def test_more_environments_are_left_to_the_device(pair, monkeypatch):
    agent, _, follower = pair
    asked, follow = [], follower._copied.follow
    monkeypatch.setattr(follower._copied, "follow", lambda: asked.append("copy") or follow())
    acted(follower, seen(agent, MAX_ENVS))
    assert asked == ["copy"]
    acted(follower, seen(agent, MAX_ENVS + 1))
    assert asked == ["copy"]


@every
def test_hooks_that_come_later_are_left_to_the_device(pair):
    agent, original, _ = pair
    copied = CpuCopy(original.policy, *heads_used(original))
    hooks = hooks_of(original.policy, *heads_used(original))
    replacement = in_numpy(with_copy(original, copied))
    follower, called = FollowingActor(original, replacement, copied, hooks), []
    handle = original.policy.shared.register_forward_hook(lambda *_: called.append(1))
    acted(follower, seen(agent))
    assert called == [1]
    handle.remove()
    acted(follower, seen(agent))
    assert called == [1]


@pytest.mark.parametrize("algo", ["ppo2"])
def test_both_draw_the_same_noise(pair):
    agent, original, follower = pair
    observation, start = seen(agent), np.zeros(N, bool)
    state = original.rng.bit_generator.state
    one = original.act(observation, None, start)
    original.rng.bit_generator.state = state
    other = follower.act(observation, None, start)
    assert one.extras.keys() == other.extras.keys() == {"value", "log_prob"}
    np.testing.assert_allclose(one.env_action, other.env_action, atol=1e-5)
    for name, expected in one.extras.items():
        np.testing.assert_allclose(other.extras[name], expected, atol=1e-4)


@pytest.mark.parametrize("algo", ["dqn"])
def test_flat_parameters_are_one_piece(pair):
    agent, original, _ = pair
    parameters = [*original.policy.shared.parameters(), *original.policy.qf.parameters()]
    (piece,) = pieces(parameters)
    assert piece.there.data_ptr() == agent.run.parameters.flat.data_ptr()
    assert piece.here.numel() == sum(one.numel() for one in parameters)


def test_pieces_are_found_by_their_memory():
    """Two parts of one tensor, the transpose of the second, and another tensor."""
    whole, other = torch.arange(20.0), torch.ones(3)
    first, second = whole[2:6], whole[8:14].view(2, 3).t()
    one, two = pieces([second, first, other])
    assert one.there.tolist() == list(range(2, 14))
    one.here.copy_(one.there)
    copies = one.copies()
    assert copies[id(first)].tolist() == [2.0, 3.0, 4.0, 5.0]
    assert copies[id(second)].tolist() == [[8.0, 11.0], [9.0, 12.0], [10.0, 13.0]]
    assert two.there.data_ptr() == other.data_ptr()


def test_actors_use_the_heads_that_they_say():
    assert heads_used(object.__new__(GreedyActor)) == ("qf",)
    assert heads_used(object.__new__(DeterministicActor)) == ("pi",)
    actor = object.__new__(DistributionActor)
    actor.extras = ("log_prob", "value")
    assert heads_used(actor) == ("pi", "vf")
    actor.extras = ("log_prob",)
    assert heads_used(actor) == ("pi",)
