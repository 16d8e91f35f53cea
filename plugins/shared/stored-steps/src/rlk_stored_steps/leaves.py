"""The arrays in which observations and actions are kept."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import RlkError
from rlk.records import Array, Field
from rlk.spaces import action_size, dtype_for_torch


@dataclass(frozen=True)
class Leaf:
    """One array of an observation: all of it, or one key of a Dict.

    Attributes:
        key: of the Dict; None for an observation that is one array.
        shape: of one observation, without N.
        dtype: in which it is kept.
    """

    key: str | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        """Its name in a checkpoint."""
        return "observation" if self.key is None else f"observation.{self.key}"

    @property
    def size(self) -> int:
        """The bytes of one array."""
        return math.prod(self.shape) * self.dtype.itemsize


def observation_leaves(space: gym.Space[Any], storage: str) -> tuple[Leaf, ...]:
    """The arrays of an observation, of dtypes that torch takes; Discrete is kept as int64.

    Args:
        storage: the name of the component, for the message.

    Raises:
        RlkError: for a space that is neither an array space nor a Dict of array spaces.
    """
    if isinstance(space, gym.spaces.Dict):
        return tuple(_leaf(key, part, storage) for key, part in space.spaces.items())
    return (_leaf(None, space, storage),)


def _leaf(key: str | None, space: gym.Space[Any], storage: str) -> Leaf:
    if isinstance(space, gym.spaces.Discrete):
        return Leaf(key, (), np.dtype(np.int64))
    if space.shape is None or space.dtype is None:
        where = "the observation space" if key is None else f"key {key!r} of the observation space"
        raise RlkError(
            f"storage {storage!r} (rlk-{storage}) cannot store {where}: {space} is not an array. "
            "It takes Box, Discrete, MultiDiscrete, MultiBinary and a Dict of these; "
            "wrap the environment in gymnasium.wrappers.FlattenObservation."
        )
    return Leaf(key, tuple(space.shape), dtype_for_torch(np.dtype(space.dtype)))


def action_field(space: gym.Space[Any]) -> Field:
    """How an action is kept: float32 for a Box, int64 for other spaces; flattened to one axis."""
    dtype = "float32" if isinstance(space, gym.spaces.Box) else "int64"
    is_one_number = isinstance(space, gym.spaces.Discrete)
    return Field(() if is_one_number else (action_size(space),), dtype)


def values_of(leaves: Sequence[Leaf], observation: Any) -> tuple[Any, ...]:
    """The arrays of an observation in the order of the leaves."""
    if leaves[0].key is None:
        return (observation,)
    return tuple(observation[leaf.key] for leaf in leaves)


def observation_of(leaves: Sequence[Leaf], values: Sequence[Array]) -> Any:
    """An observation from the arrays of its leaves: an array, or a dict of arrays."""
    if leaves[0].key is None:
        return values[0]
    return {leaf.key: value for leaf, value in zip(leaves, values, strict=True)}
