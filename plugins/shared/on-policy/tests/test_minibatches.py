from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from rlk.errors import RlkError
from rlk_on_policy.minibatches import epochs, flat
from rlk_rollout.rollout import Rollout

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


def test_minibatches_keep_the_key_and_every_part_of_an_observation():
    number = np.arange(T * N, dtype=np.float32).reshape(T, N)
    whole = flat(rollout({"a": number, "b": -number}), advantage=number)
    for part in epochs(replace(whole, key="vf"), 1, 3, np.random.default_rng(0)):
        assert part.key == "vf"
        assert torch.equal(part.observation["a"], part.action.float())
        assert torch.equal(part.observation["b"], -part.action.float())


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


@pytest.mark.parametrize("name", ["value", "log_prob"])
def test_an_extra_that_the_algorithm_does_not_store_is_named_with_what_to_return(name):
    without = rollout()
    del without.extras[name]
    with pytest.raises(RlkError, match=rf"does not hold '{name}'.*extras\(\) must return it"):
        _ = flat(without, advantage=np.zeros((T, N), np.float32)).log_prob


def test_epochs_without_log_probabilities_have_all_else():
    without = rollout()
    del without.extras["log_prob"]
    whole = flat(without, advantage=np.zeros((T, N), np.float32))
    (part,) = epochs(whole, 1, 1, np.random.default_rng(0))
    assert part.stored_log_prob is None
    assert torch.equal(part.value.sort().values, whole.value)
