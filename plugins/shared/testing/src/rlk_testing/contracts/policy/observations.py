"""Observation spaces to test policies with, and random observations of them."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector.utils import concatenate, create_empty_array

from rlk.spaces import flat_space, map_observation
from rlk_networks.observations import as_tensor

#: A nested observation, of which a policy is given the flat space: its keys are `place`, `hand.at`.
_NESTED = gym.spaces.Dict(
    {
        "place": gym.spaces.Box(-1.0, 1.0, (5,), np.float32),
        "hand": gym.spaces.Dict({"at": gym.spaces.Discrete(3)}),
    }
)
#: An observation space for every name that components declare.
OBSERVATION_SPACES: dict[str, gym.Space[Any]] = {
    "Box": gym.spaces.Box(-1.0, 1.0, (5,), np.float32),
    "Discrete": gym.spaces.Discrete(4, start=2),
    "MultiDiscrete": gym.spaces.MultiDiscrete([2, 3], start=[5, -1]),
    "MultiBinary": gym.spaces.MultiBinary(6),
    "Image": gym.spaces.Box(0, 255, (40, 44, 3), np.uint8),
    "Dict": flat_space(_NESTED),
}


def observations(space: gym.Space[Any], batch: int, seed: int = 0) -> Any:
    """Random raw observations [B, ...] as tensors."""
    space.seed(seed)
    rows = [space.sample() for _ in range(batch)]
    empty: Any = create_empty_array(space, batch)
    return as_tensor(concatenate(space, rows, empty))


def row(batch: Any, index: int) -> Any:
    """One row of a batch, with the batch axis kept."""
    return map_observation(lambda part: part[index : index + 1], batch)
