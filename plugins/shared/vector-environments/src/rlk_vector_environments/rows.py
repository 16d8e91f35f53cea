"""A batch as preallocated arrays, one row per environment, in the structure of a Gymnasium space.

A *tree* is an array [N, ...] for Box, Discrete, MultiDiscrete and MultiBinary, a dict of trees for
Dict and a tuple of trees for Tuple. N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

from rlk.errors import PlanError

Tree = Any
New = Callable[[tuple[int, ...], Any], np.ndarray[Any, Any]]
#: Writes a sample into the row with that number.
Write = Callable[[int, Any], None]

_ARRAYS = (gym.spaces.Box, gym.spaces.Discrete, gym.spaces.MultiDiscrete, gym.spaces.MultiBinary)


def allocate(space: gym.Space[Any], n: int, new: New = np.zeros) -> Tree:
    """The tree for n samples of a space; `new(shape, dtype)` makes its arrays, in a fixed order.

    Raises:
        rlk.errors.PlanError: for a space whose samples have no fixed shape (Text, Sequence, Graph,
        …).
    """
    if isinstance(space, gym.spaces.Dict):
        return {key: allocate(sub, n, new) for key, sub in space.spaces.items()}
    if isinstance(space, gym.spaces.Tuple):
        return tuple(allocate(sub, n, new) for sub in space.spaces)
    if isinstance(space, _ARRAYS):
        return new((n, *(space.shape or ())), space.dtype)
    raise PlanError(
        f"vector environments keep samples in arrays of fixed shape, but found the space {space}. "
        "Wrap the environment so that it gives Box, Discrete, MultiDiscrete, MultiBinary, Dict or "
        "Tuple (gymnasium.wrappers.FlattenObservation, TransformObservation)."
    )


def writer(tree: Tree) -> Write:
    """A function that writes a sample into a row, cast to the space's dtype.

    If numpy would broadcast a sample of another shape, it raises ValueError instead. This costs
    nothing: numbers of the space's dtype are written through a memoryview, which accepts no other
    shape and is faster than numpy's assignment.
    """
    if isinstance(tree, dict):
        parts = [(key, writer(sub)) for key, sub in tree.items()]

        def write_parts(row: int, sample: Any) -> None:
            for key, write in parts:
                write(row, sample[key])

        return write_parts
    if isinstance(tree, tuple):
        members = [writer(sub) for sub in tree]

        def write_members(row: int, sample: Any) -> None:
            for write, part in zip(members, sample, strict=True):
                write(row, part)

        return write_members
    return _array_writer(tree)


def _array_writer(array: np.ndarray[Any, Any]) -> Write:
    shape, ndarray = array.shape[1:], np.ndarray
    views = [array[row, ...] for row in range(len(array))]

    def cast(row: int, sample: Any) -> None:
        if (sample.shape if type(sample) is ndarray else np.shape(sample)) != shape:
            raise ValueError(f"a sample has shape {np.shape(sample)}, its space {shape}")
        views[row][...] = sample

    if array.ndim > 2 or not array.flags.c_contiguous:
        return cast
    flat, places = buffer(array.reshape(-1)), _places(len(array), shape)
    is_exact = True

    def write(row: int, sample: Any) -> None:
        nonlocal is_exact
        if is_exact:
            try:
                flat[places[row]] = sample
                return
            # of another shape or dtype, or with a dtype that memoryviews do not support (float16,
            # another byte order): then all samples are cast
            except (TypeError, ValueError, NotImplementedError):
                is_exact = False
        cast(row, sample)

    return write


def buffer(array: np.ndarray[Any, Any]) -> Any:
    """The memory of an array; its items can be set only to numbers, or values of its dtype."""
    return memoryview(array)  # type: ignore[arg-type]


def _places(n: int, shape: tuple[int, ...]) -> list[Any]:
    """Where each row is in the flat array: its index, or a slice."""
    if not shape:
        return list(range(n))
    (size,) = shape
    return [slice(row * size, (row + 1) * size) for row in range(n)]


def read(tree: Tree, i: int) -> Any:
    """A copy of row i, as a sample of the space."""
    if isinstance(tree, dict):
        return {key: read(sub, i) for key, sub in tree.items()}
    if isinstance(tree, tuple):
        return tuple(read(sub, i) for sub in tree)
    return tree[i].copy()


def window(tree: Tree, start: int, stop: int) -> Tree:
    """A view of the rows from start to stop; the dicts are new."""
    if isinstance(tree, dict):
        return {key: window(sub, start, stop) for key, sub in tree.items()}
    if isinstance(tree, tuple):
        return tuple(window(sub, start, stop) for sub in tree)
    return tree[start:stop]


def view(tree: Tree) -> Tree:
    """The tree for a caller: the same arrays in new dicts, to which the caller may add keys."""
    if isinstance(tree, dict):
        return {key: view(sub) for key, sub in tree.items()}
    if isinstance(tree, tuple):
        return tuple(view(sub) for sub in tree)
    return tree


def copy_into(tree: Tree, batch: Tree) -> None:
    """Copy a whole batch into the tree, cast to its dtypes.

    Raises:
        ValueError: for another shape.
        TypeError: for floating-point numbers instead of integers.
    """
    if isinstance(tree, dict):
        for key, sub in tree.items():
            copy_into(sub, batch[key])
        return
    if isinstance(tree, tuple):
        for sub, part in zip(tree, batch, strict=True):
            copy_into(sub, part)
        return
    batch = np.asarray(batch)
    if batch.shape != tree.shape:
        raise ValueError(
            f"got a batch of shape {batch.shape}, not {tree.shape}: one row for each environment"
        )
    if batch.dtype == tree.dtype:
        tree[...] = batch  # takes half as long as copyto
        return
    integers = batch.dtype.kind in "iu" and tree.dtype.kind in "iu"
    np.copyto(tree, batch, casting="unsafe" if integers else "same_kind")


def samples(tree: Tree, n: int) -> list[Any]:
    """The rows as one sample for each environment; copies, because an environment may keep them."""
    if isinstance(tree, dict):
        parts = {key: samples(sub, n) for key, sub in tree.items()}
        return [{key: part[i] for key, part in parts.items()} for i in range(n)]
    if isinstance(tree, tuple):
        columns = [samples(sub, n) for sub in tree]
        return [tuple(column[i] for column in columns) for i in range(n)]
    return list(tree if tree.ndim == 1 else tree.copy())  # items of a one-axis array are copies


def replaced(tree: Tree, indices: list[int], batch: Tree) -> Tree:
    """A copy of the tree in which the rows at the indices are replaced by the batch, in order."""
    if isinstance(tree, dict):
        return {key: replaced(sub, indices, batch[key]) for key, sub in tree.items()}
    if isinstance(tree, tuple):
        return tuple(replaced(sub, indices, part) for sub, part in zip(tree, batch, strict=True))
    copied = tree.copy()
    copied[indices] = batch
    return copied
