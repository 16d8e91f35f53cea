"""`rlk.running.fingerprint`: equal as long as nothing has changed."""

from __future__ import annotations

import logging
import random
import threading
import tracemalloc
import weakref
from collections import deque

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.utils import EzPickle

from rlk.running.fingerprint import SAMPLED_BYTES, fingerprint


class Items(list):
    """A derived list."""


class Holder(gym.Env, EzPickle):
    """It pickles only how it was made, and holds what cannot be pickled."""

    def __init__(self):
        EzPickle.__init__(self)
        parts = [0.0]
        self.lock, self.log, self.reward = threading.Lock(), logging.getLogger(), lambda: sum(parts)
        self.body, self.items = deque([1, 2]), Items([1, 2])
        self.grid = {(row, column): [0] for row in range(3) for column in range(3)}
        self.generator, self.random = np.random.default_rng(1), random.Random(1)
        self.torch_generator = torch.Generator()
        self.tensor, self.array, self.empty = torch.zeros(3), np.zeros((3, 2)), np.zeros(0)
        self.objects = np.array([1, None], object)
        self.track = iter([1, 2, 3])
        self.set_of_all = {self}


CHANGES = {
    "an attribute": lambda holder: setattr(holder, "steps", 1),
    "a deque": lambda holder: holder.body.rotate(1),
    "a derived list": lambda holder: holder.items.__setitem__(0, 5),
    "what a function encloses": lambda holder: holder.reward.__closure__[0].cell_contents.append(1),
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


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_of_a_large_array_every_part_of_a_number_is_among_the_bytes_that_count(kind):
    array = np.zeros((512, 512), kind)
    before = fingerprint(array)
    array += 1
    assert fingerprint(array) != before


class Raises:
    """As a handle of a simulator that is not connected."""

    @property
    def __dict__(self):
        raise RuntimeError("not connected")


def nested():
    found = []
    for _ in range(100_000):
        found = [found]
    return found


UNSEEN = [nested, Raises, lambda: weakref.proxy(set()), lambda: (i for i in range(3))]


@pytest.mark.parametrize("make", UNSEEN)
def test_what_cannot_be_looked_into_has_none(make):
    assert fingerprint([make()]) is None
