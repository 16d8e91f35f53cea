"""Policies with forward hooks, or with another forward, act in PyTorch, which calls these."""

from __future__ import annotations

import numpy as np
import pytest
from test_actors import (
    BOX,
    OBSERVATION_SPACES,
    N,
    actor_critic,
    architecture,
    built,
    distribution,
    greedy,
    observed,
    q_policy,
    same,
    with_one_thread,
)

from rlk_networks.actor import DistributionActor
from rlk_numpy_acting.actors import in_numpy
from rlk_off_policy.actor import DeterministicActor
from rlk_off_policy.heads import DeterministicHead
from rlk_on_policy.actor import make_actor

__all__ = ["with_one_thread"]

PLACES = {
    "the policy": lambda policy: policy,
    "the encoder": lambda policy: policy.shared,
    "a head": lambda policy: policy.qf,
    "a layer": lambda policy: policy.qf.out,
}


def doubled(module, given, output):
    """A forward hook, of the policy too, which returns a tuple."""
    return type(output)(2.0 * each for each in output) if type(output) is tuple else 2.0 * output


def hooked(place, kind, **settings):
    """A policy, and what registers such a hook there."""
    policy = q_policy(**settings)
    module = PLACES[place](policy)
    if kind == "forward":
        return policy, lambda: module.register_forward_hook(doubled)
    return policy, lambda: module.register_forward_pre_hook(
        lambda _, given: (-given[0], *given[1:])
    )


every_hook = pytest.mark.parametrize("kind", ["forward", "pre"])
every_place = pytest.mark.parametrize("place", PLACES)


@every_place
@every_hook
def test_a_policy_with_forward_hooks_stays_in_torch(place, kind):
    policy, register = hooked(place, kind)
    register()
    assert in_numpy(greedy(policy)) is None
    assert in_numpy(greedy(policy.to("meta"))) is None


@every_place
@every_hook
def test_a_hook_that_comes_later_is_called_until_it_is_removed(place, kind):
    policy, register = hooked(place, kind)
    ours, calls = in_numpy(greedy(policy)), []
    seen, start = observed(OBSERVATION_SPACES["Box"]), np.ones(N, np.bool_)
    theirs = greedy(policy)
    for _ in range(2):
        handles = [register(), policy.qf.register_forward_hook(lambda *_: calls.append(1))]
        np.testing.assert_array_equal(
            ours.act(seen, None, start).action, theirs.act(seen, None, start).action
        )
        assert len(calls) == 2
        for handle in handles:
            handle.remove()
        ours.act(seen, None, start)
        assert len(calls) == 2
        calls.clear()


@pytest.mark.parametrize("kind", ["squashed-gaussian", "categorical"])
def test_an_actor_calls_the_hooks_of_its_heads(kind):
    made, _ = architecture("mlp")
    chosen, space = distribution(kind), OBSERVATION_SPACES["Box"]
    policy = actor_critic(made, space, chosen)
    ours = in_numpy(make_actor(policy, chosen, np.random.default_rng(0)))
    theirs = make_actor(policy, chosen, np.random.default_rng(0))
    seen, start = observed(space), np.ones(N, np.bool_)
    for head in (policy.pi, policy.vf):
        head.register_forward_hook(doubled)
        acts = [actor.act(seen, actor.start(N), start) for actor in (ours, theirs)]
        same(*acts)


def test_a_deterministic_actor_calls_hooks():
    made, _ = architecture("mlp")
    space, start = OBSERVATION_SPACES["Box"], np.ones(N, np.bool_)
    policy = built(made, space, {"pi": lambda trunk: DeterministicHead(trunk, 2)})
    actor = DeterministicActor(policy, BOX)
    ours, seen = in_numpy(actor), observed(space)
    policy.shared.register_forward_pre_hook(lambda _, given: (-given[0],))
    assert np.array_equal(ours.act(seen, None, start).action, actor.act(seen, None, start).action)


def test_hooks_of_heads_that_do_not_act_do_not_matter():
    space, chosen = OBSERVATION_SPACES["Box"], distribution("categorical")
    policy = actor_critic(architecture("mlp")[0], space, chosen)
    policy.vf.register_forward_hook(doubled)
    assert in_numpy(DistributionActor(policy, chosen, np.random.default_rng(0))) is None
    without = DistributionActor(policy, chosen, np.random.default_rng(0), ("log_prob",))
    assert in_numpy(without) is not None


def test_a_forward_that_was_replaced_in_one_module_stays_in_torch():
    policy = q_policy()
    forward = policy.qf.forward
    policy.qf.forward = lambda features: -forward(features)
    assert in_numpy(greedy(policy)) is None
