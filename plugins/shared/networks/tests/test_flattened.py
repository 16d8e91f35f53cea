"""Observations as rows of numbers."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
import torch

from rlk_networks import Flattened, preprocess

IMAGE = gym.spaces.Box(0, 255, (4, 5, 2), np.uint8)
DICT = gym.spaces.Dict(
    {
        "picture": IMAGE,
        "choice": gym.spaces.MultiDiscrete([2, 3], start=[1, 0]),
        "bits": gym.spaces.MultiBinary((2, 2)),
        "where": gym.spaces.Discrete(3, start=-1),
        "place": gym.spaces.Box(-1.0, 1.0, (2, 1), np.float32),
    }
)


def samples(space: Any, count: int = 3) -> Any:
    """Preprocessed observations [count, ...]."""
    space.seed(0)
    rows = [space.sample() for _ in range(count)]
    if isinstance(space, gym.spaces.Dict):
        raw: Any = {k: torch.as_tensor(np.stack([row[k] for row in rows])) for k in rows[0]}
    else:
        raw = torch.as_tensor(np.stack(rows))
    return preprocess(space)(raw)


ONE_KEY = gym.spaces.Dict({"bits": gym.spaces.MultiBinary((2, 2))})


@pytest.mark.parametrize("space", [IMAGE, DICT, ONE_KEY, *DICT.spaces.values()])
def test_flattened_observations_are_restored(space: Any) -> None:
    flattened, seen = Flattened(space), samples(space)
    rows = flattened(seen)
    assert rows.shape == (3, flattened.features)
    found = flattened.restored(rows)
    if isinstance(seen, dict):
        assert found.keys() == seen.keys()
        assert all(torch.equal(found[key], part) for key, part in seen.items())
    else:
        assert torch.equal(found, seen)


def test_rows_do_not_depend_on_the_order_of_a_dicts_keys() -> None:
    low, high = gym.spaces.Box(-1.0, 0.0, (1,)), gym.spaces.Box(0.0, 1.0, (2,))
    seen = {"b": torch.tensor([[3.0, 4.0]]), "a": torch.tensor([[5.0]])}
    for parts in ([("b", high), ("a", low)], [("a", low), ("b", high)]):
        flattened = Flattened(gym.spaces.Dict(OrderedDict(parts)))
        assert flattened(seen).tolist() == [[5.0, 3.0, 4.0]]
