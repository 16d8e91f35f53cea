"""What one transition looks like in memory: a packed record, and arrays for larger observations.

One gather of packed rows beats one gather per field. But observations are handed out contiguously,
so they are copied out of the record once more: above some 128 bytes an array of their own is
quicker (17 floats, 32 transitions: 3.2 against 3.4 µs; 64 floats, 256 transitions: 32 against 25
µs).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import RlkError
from rlk.records import Array, Field, Schema

#: Observations of more bytes than this are kept outside the record.
PACKED_BYTES = 128


@dataclass(frozen=True)
class Leaf:
    """One array of an observation: all of it, or one key of a Dict."""

    key: str | None
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        """Its name in the record and in a checkpoint."""
        return "observation" if self.key is None else f"observation.{self.key}"

    @property
    def size(self) -> int:
        """Bytes of one."""
        return int(np.prod(self.shape)) * self.dtype.itemsize

    @property
    def packed(self) -> bool:
        """Whether it is a field of the record."""
        return self.size <= PACKED_BYTES


def observation_leaves(space: gym.Space[Any]) -> tuple[Leaf, ...]:
    """The arrays that make up an observation; float64 is kept as float32, Discrete as an int64.

    Raises:
        RlkError: for a space that is neither array-shaped nor a Dict of such.
    """
    if isinstance(space, gym.spaces.Dict):
        return tuple(_leaf(key, part) for key, part in space.spaces.items())
    return (_leaf(None, space),)


def _leaf(key: str | None, space: gym.Space[Any]) -> Leaf:
    if isinstance(space, gym.spaces.Discrete):
        return Leaf(key, (), np.dtype(np.int64))
    if space.shape is None or space.dtype is None:
        where = "the observation space" if key is None else f"key {key!r} of the observation space"
        raise RlkError(
            f"storage 'replay' (rlk-replay) cannot store {where}: {space} is not an array. "
            "It takes Box, Discrete, MultiDiscrete, MultiBinary and a Dict of these; "
            "wrap the environment in gymnasium.wrappers.FlattenObservation."
        )
    dtype = np.dtype(space.dtype)
    return Leaf(key, tuple(space.shape), np.dtype(np.float32) if dtype == np.float64 else dtype)


def action_field(space: gym.Space[Any]) -> Field:
    """How an action is kept: float32 for a Box, int64 for everything that counts."""
    return Field(
        tuple(space.shape or ()), "float32" if isinstance(space, gym.spaces.Box) else "int64"
    )


def record_dtype(leaves: tuple[Leaf, ...], schema: Schema) -> np.dtype[Any]:
    """The record of one transition, aligned so that every field is a legal strided array for torch.

    `aside` is the row of the side table that holds the next observation, -1 if the following slot
    does.
    """
    action = action_field(schema.action_space)
    fields: list[tuple[str, Any, tuple[int, ...]]] = [
        (leaf.name, leaf.dtype, leaf.shape) for leaf in leaves if leaf.packed
    ]
    fields += [
        ("action", action.dtype, action.shape),
        ("reward", "float32", ()),
        ("terminated", "bool", ()),
        ("truncated", "bool", ()),
        ("aside", "int64", ()),
    ]
    fields += [(f"extras.{name}", kept.dtype, kept.shape) for name, kept in schema.extras.items()]
    return np.dtype(fields, align=True)


def values_of(leaves: tuple[Leaf, ...], observation: Any) -> tuple[Any, ...]:
    """The arrays of an observation in the order of the leaves."""
    if leaves[0].key is None:
        return (observation,)
    return tuple(observation[leaf.key] for leaf in leaves)


def observation_of(leaves: tuple[Leaf, ...], values: list[Array]) -> Any:
    """An observation from the arrays of its leaves: an array, or a dict of arrays."""
    if leaves[0].key is None:
        return values[0]
    return {leaf.key: value for leaf, value in zip(leaves, values, strict=True)}


def describe(leaves: tuple[Leaf, ...], record: np.dtype[Any]) -> dict[str, str]:
    """Name -> dtype and shape of everything stored, to compare a checkpoint with a run."""
    described = {leaf.name: f"{leaf.dtype.str}{list(leaf.shape)}" for leaf in leaves}
    for name in record.names or ():
        field = record[name]
        described[name] = f"{field.base.str}{list(field.shape)}"
    return described
