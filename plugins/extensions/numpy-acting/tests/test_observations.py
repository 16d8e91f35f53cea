"""Observations as numbers: numpy against torch, for every kind of space."""

from __future__ import annotations

import tracemalloc

import gymnasium as gym
import numpy as np
import pytest
import torch
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk_networks import as_tensor, preprocess
from rlk_numpy_acting.forward import StaysInTorch
from rlk_numpy_acting.observations import as_numbers

BOX = gym.spaces.Box(-1.0, 1.0, (3,), np.float32)
IMAGE = gym.spaces.Box(0, 255, (36, 36, 3), np.uint8)
SPACES = [
    BOX,
    gym.spaces.Box(-1.0, 1.0, (2, 3), np.float64),
    gym.spaces.Box(0, 255, (3,), np.uint8),
    gym.spaces.Discrete(4),
    gym.spaces.Discrete(4, start=-2),
    gym.spaces.MultiDiscrete([2, 3]),
    gym.spaces.MultiDiscrete([[2, 3], [4, 2]]),
    gym.spaces.MultiDiscrete([2, 3], start=[-1, 5]),
    gym.spaces.MultiDiscrete([120, 3], dtype=np.int8, start=[-100, 0]),
    gym.spaces.MultiDiscrete([200, 3], dtype=np.uint16, start=[3, 0]),
    gym.spaces.MultiBinary((2, 2)),
    gym.spaces.Dict({"b": BOX, "a": gym.spaces.Discrete(3), "c": gym.spaces.MultiBinary(2)}),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("batch", [1, 7])
def test_every_space_becomes_the_numbers_that_torch_makes(space, batch):
    space.seed(3)
    rows = [space.sample() for _ in range(batch)]
    observation = concatenate(space, rows, create_empty_array(space, batch))
    found = as_numbers(space)(observation)
    expected = preprocess(space)(as_tensor(observation))
    pairs = (
        [(found[key], expected[key]) for key in expected]
        if isinstance(expected, dict)
        else [(found, expected)]
    )
    for one, other in pairs:
        assert one.dtype == np.float32
        assert torch.equal(torch.from_numpy(one), other)


@pytest.mark.parametrize(
    "space",
    [
        IMAGE,
        gym.spaces.Dict({"place": BOX, "picture": IMAGE}),
        gym.spaces.Text(3),
    ],
    ids=str,
)
def test_images_and_unknown_spaces_stay_in_torch(space):
    with pytest.raises(StaysInTorch):
        as_numbers(space)


def test_a_whole_number_beyond_its_space_is_an_error():
    with pytest.raises(IndexError):
        as_numbers(gym.spaces.Discrete(3))(np.array([3]))


@pytest.mark.parametrize("space", [gym.spaces.Discrete(2000), gym.spaces.MultiDiscrete([2000, 2])])
def test_a_space_of_many_values_takes_the_memory_of_its_rows_alone(space):
    tracemalloc.start()
    try:
        found = as_numbers(space)(np.zeros((3, *space.shape), int))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * found.nbytes  # 240 kB; one row for each value would be 16 MB
