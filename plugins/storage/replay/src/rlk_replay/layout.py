"""The layout of one transition in memory: a packed record, and arrays for larger observations.

One gather of packed rows is faster than one gather per field. But observations are returned
contiguously, so they are copied out of the record once more: above about 128 bytes a separate
array is faster (17 floats, 32 transitions: 3.2 against 3.4 µs; 64 floats, 256 transitions: 32
against 25 µs).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rlk.records import Schema
from rlk_stored_steps.leaves import Leaf, action_field

#: Observations of more bytes than this are kept outside the record.
PACKED_BYTES = 128


def is_packed(leaf: Leaf) -> bool:
    """Whether an array of an observation is a field of the record."""
    return leaf.size <= PACKED_BYTES


def record_dtype(leaves: tuple[Leaf, ...], schema: Schema) -> np.dtype[Any]:
    """The record of one transition, aligned so that every field is a legal strided array for torch.

    `aside` is the row of the side table that holds the next observation, -1 if the following slot
    does.
    """
    action = action_field(schema.action_space)
    fields: list[tuple[str, Any, tuple[int, ...]]] = [
        (leaf.name, leaf.dtype, leaf.shape) for leaf in leaves if is_packed(leaf)
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


def describe(leaves: tuple[Leaf, ...], record: np.dtype[Any]) -> dict[str, str]:
    """Name -> dtype and shape of everything stored, to compare a checkpoint with a run."""
    described = {leaf.name: f"{leaf.dtype.str}{list(leaf.shape)}" for leaf in leaves}
    for name in record.names or ():
        field = record[name]
        described[name] = f"{field.base.str}{list(field.shape)}"
    return described
