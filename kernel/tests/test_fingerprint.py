"""`rlk.running.fingerprint`: equal as long as nothing has changed."""

from __future__ import annotations

import random
import threading
import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils import EzPickle

from rlk.running.fingerprint import SAMPLED_BYTES, fingerprint


class Holder(gym.Env, EzPickle):
    """It pickles only how it was made, and holds what cannot be pickled."""

    def __init__(self):
        EzPickle.__init__(self)
        self.lock, self.reward = threading.Lock(), lambda: 0.0
        self.grid = {(row, column): [0] for row in range(3) for column in range(3)}
        self.generator, self.random = np.random.default_rng(1), random.Random(1)
        self.torch_generator = torch.Generator()
        self.tensor, self.array, self.empty = torch.zeros(3), np.zeros((3, 2)), np.zeros(0)
        self.objects = np.array([1, None], object)
        self.track = iter([1, 2, 3])
        self.set_of_all = {self}


CHANGES = {
    "an attribute": lambda holder: setattr(holder, "steps", 1),
    "a nested list": lambda holder: holder.grid[1, 1].append(2),
    "an array": lambda holder: holder.array.T.__setitem__((1, 2), 3.0),
    "an array of objects": lambda holder: holder.objects.__setitem__(0, 2),
    "a tensor": lambda holder: holder.tensor.add_(1),
    "numpy's generator": lambda holder: holder.generator.random(),
    "Python's generator": lambda holder: holder.random.random(),
    "torch's generator": lambda holder: torch.rand(1, generator=holder.torch_generator),
    "an iterator": lambda holder: next(holder.track),
    "what cannot be pickled": lambda holder: setattr(holder, "lock", threading.Lock()),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_it_is_another_one_after_every_change_and_after_no_other(change):
    holder = Holder()
    wrapped = gym.wrappers.TimeLimit(holder, 5)
    before = fingerprint([wrapped])
    assert before is not None and fingerprint([wrapped]) == before
    change(holder)
    assert fingerprint([wrapped]) != before


def test_a_large_array_is_not_copied():
    array = np.zeros(200 * SAMPLED_BYTES, np.uint8)
    before = fingerprint(array)
    tracemalloc.start()
    try:
        fingerprint(array)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4 * SAMPLED_BYTES
    array[:] = 1
    assert fingerprint(array) != before


def test_what_is_nested_too_deep_has_none():
    nested: list = []
    for _ in range(100_000):
        nested = [nested]
    assert fingerprint(nested) is None
