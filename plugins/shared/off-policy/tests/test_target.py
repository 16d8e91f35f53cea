"""Targets follow as they are told, in memory of their own; noise comes in with a batch."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from rlk.records import Batch
from rlk_flat_parameters import FlatParameters
from rlk_off_policy.batch_noise import with_noise
from rlk_off_policy.target import Target


def parameters():
    """Two numbers named `pi.weight`, two named `qf.weight`."""
    module = nn.Module()
    module.pi, module.qf = nn.Linear(2, 1, bias=False), nn.Linear(2, 1, bias=False)
    made = FlatParameters(module)
    made.flat.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    return made


def test_polyak_moves_by_a_part_of_the_difference():
    online = parameters()
    target = Target(online)
    online.flat.add_(4.0)
    target.polyak(0.25)
    assert target.flat.tolist() == [2.0, 3.0, 4.0, 5.0]
    assert target.module.pi.weight.tolist() == [[2.0, 3.0]]


def test_a_copy_is_equal_and_apart():
    online = parameters()
    target = Target(online)
    online.flat.mul_(1.1).add_(1e-9)
    assert target.flat.tolist() == [1.0, 2.0, 3.0, 4.0]
    target.polyak(1.0)
    assert target.flat.equal(online.flat)
    assert target.flat.data_ptr() != online.flat.data_ptr()
    assert not any(parameter.requires_grad for parameter in target.module.parameters())


def test_only_the_submodules_that_are_named_follow():
    online = parameters()
    target = Target(online, ("qf",))
    online.flat.zero_()
    target.polyak(1.0)
    assert target.flat.tolist() == [0.0, 0.0]
    assert target.module.pi.weight.tolist() == [[1.0, 2.0]]


def test_its_state_is_of_the_parameters_that_follow():
    state = Target(parameters(), ("qf",)).state_dict()
    assert {name: value.tolist() for name, value in state.items()} == {"qf.weight": [[3.0, 4.0]]}
    other = Target(parameters(), ("qf",))
    other.flat.zero_()
    other.load_state_dict(state)
    assert other.module.qf.weight.tolist() == [[3.0, 4.0]]
    assert other.module.pi.weight.tolist() == [[1.0, 2.0]]


def test_noise_stands_among_the_extras_of_a_batch_that_is_otherwise_the_same():
    ones = torch.ones(2)
    extras = {"info": ones}
    batch = Batch(ones, ones, ones, ones, ones, ones, np.arange(2), extras, "delayed")
    found = with_noise(batch, "cpu", epsilon=np.array([3.0, 4.0], np.float32))
    assert found.extras["epsilon"].tolist() == [3.0, 4.0] and found.extras["info"] is ones
    assert found.key == "delayed" and found.reward is batch.reward
    assert batch.extras == {"info": ones}
