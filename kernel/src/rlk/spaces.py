"""Gymnasium spaces: their kind, their flat form, and whether an observation belongs to one."""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.records import Array

Space = spaces.Space[Any]


def plain_space(space: Space) -> Space:
    """An equal space of Gymnasium's own class, if the space is of a class derived from that.

    Components know spaces by the names of their classes. The parts of a Dict or Tuple become plain
    as well; any other space is returned as it is.
    """
    if _is_plain(space):
        return space
    return next(equal(space) for base, equal in _EQUAL.items() if isinstance(space, base))


#: Gymnasium's class -> a function that makes an equal space of it, with plain parts.
_EQUAL: Mapping[type[Space], Callable[[Any], Space]] = {
    spaces.Box: lambda one: spaces.Box(one.low, one.high, dtype=one.dtype.type),
    spaces.Discrete: lambda one: spaces.Discrete(int(one.n), start=int(one.start)),
    spaces.MultiDiscrete: lambda one: spaces.MultiDiscrete(
        one.nvec, dtype=one.dtype.type, start=one.start
    ),
    spaces.MultiBinary: lambda one: spaces.MultiBinary(one.n),
    spaces.Tuple: lambda one: spaces.Tuple([plain_space(part) for part in one.spaces]),
    spaces.Dict: lambda one: spaces.Dict(
        OrderedDict((key, plain_space(part)) for key, part in one.spaces.items())  # in this order
    ),
}


def _is_plain(space: Space) -> bool:
    """Whether neither the space nor a part of it is of a derived class."""
    parts: Iterable[Space] = ()
    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = space.values() if isinstance(space, spaces.Dict) else space.spaces
    is_derived = isinstance(space, tuple(_EQUAL)) and type(space) not in _EQUAL
    return not is_derived and all(map(_is_plain, parts))


def is_image(space: Space) -> bool:
    """Whether a space holds images: uint8, 0 to 255, channels first or last."""
    return (
        isinstance(space, spaces.Box)
        and space.dtype == np.uint8
        and len(space.shape) == 3
        and bool(np.all(space.low == 0) and np.all(space.high == 255))
    )


def sees_images(space: Space) -> bool:
    """Whether observations are images, or have some among the parts of a Dict."""
    if isinstance(space, spaces.Dict):
        return any(map(sees_images, space.spaces.values()))
    return is_image(space)


def channels_first(shape: tuple[int, ...]) -> bool:
    """Whether images of this shape have their channels on the first axis, else on the last.

    They do if the first axis is shorter than both others: with many stacked frames, a last axis of
    channels may be longer than the image is high. If the first axis has the channels and is that
    long, the shape does not tell; policies for images have a setting for it (`channels`).
    """
    return shape[0] < min(shape[1:])


def kind(space: Space) -> str:
    """The name by which components declare their spaces: the class name, or `Image`."""
    return "Image" if is_image(space) else type(space).__name__


def kinds(space: Space) -> tuple[str, ...]:
    """All names by which a component may declare this space: `kind`, and for some also `Image`.

    A Box with three axes of floats between finite bounds may be an image; components that do not
    handle images treat it as a Box.
    """
    may_be_image = (
        isinstance(space, spaces.Box)
        and np.issubdtype(space.dtype, np.floating)
        and len(space.shape) == 3
        and bool(np.all(np.isfinite(space.low) & np.isfinite(space.high)))
        and bool(np.all(space.low < space.high))
    )
    return (kind(space), "Image") if may_be_image else (kind(space),)


def describe(space: Space) -> str:
    """One line of text for messages and plan.json, without the bounds of a Box."""
    if isinstance(space, spaces.Text):
        return f"Text({space.max_length})"  # without all its characters
    if isinstance(space, spaces.Box):
        return f"Box({space.shape}, {space.dtype})"
    return " ".join(str(space).split())


def action_size(space: Space) -> int:
    """D: how many numbers an action of this space has, whatever its axes."""
    return math.prod(space.shape or ())


def choices_of(space: Space) -> tuple[list[int], Array]:
    """The K choices of an action: the options of each, and the number of the first of them.

    A Discrete action is one choice, a MultiDiscrete one a choice for each of its numbers, and a
    MultiBinary one a choice for each bit. A mask of actions has the options of all choices, one
    choice after the other, as in sb3-contrib.

    Returns:
        (sizes, first): K numbers, and int64 [K].

    Raises:
        ValueError: if the actions of the space cannot be counted.
    """
    if isinstance(space, spaces.Discrete):
        return [int(space.n)], np.array([space.start], np.int64)
    if isinstance(space, spaces.MultiDiscrete):
        return space.nvec.reshape(-1).tolist(), space.start.reshape(-1).astype(np.int64)
    if isinstance(space, spaces.MultiBinary):
        return [2] * action_size(space), np.zeros(action_size(space), np.int64)
    raise ValueError(
        f"actions of {describe(space)} cannot be counted; use Discrete, MultiDiscrete or "
        "MultiBinary"
    )


@functools.cache  # for actors, which ask at every step
def dtype_for_torch(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which numbers of this one are kept and computed with: one that torch takes.

    A float of more than four bytes becomes float32, and bytes are in the order of this machine.
    """
    is_wide = dtype.kind == "f" and dtype.itemsize > 4
    return np.dtype(np.float32) if is_wide else dtype.newbyteorder("=")


def map_observation(function: Callable[[Array], Any], observation: Any) -> Any:
    """`function` applied to an observation, or to each part of one that is a dict."""
    if isinstance(observation, Mapping):
        return {key: map_observation(function, value) for key, value in observation.items()}
    return function(observation)


def is_nested(space: Space) -> bool:
    """Whether observations are a Tuple, or a Dict that holds a Dict or a Tuple."""
    if not isinstance(space, spaces.Dict):
        return isinstance(space, spaces.Tuple)
    return any(isinstance(part, spaces.Dict | spaces.Tuple) for part in space.spaces.values())


def flat_space(space: Space) -> Space:
    """A Dict of one level for a nested Dict or a Tuple; any other space unchanged.

    Keys are joined by dots, and the members of a Tuple are numbered: `{"arm": {"angle": …}}` has
    the key `arm.angle`, a Tuple of two has `0` and `1`.

    Raises:
        ValueError: if two parts would have the same key.
    """
    if not is_nested(space):
        return space
    found = [*_leaves(space)]
    keys = [key for key, _ in found]
    twice = next((key for key in keys if keys.count(key) > 1), None)
    if twice is not None:
        raise ValueError(f"two parts of {describe(space)} have the key {twice!r} when it is flat")
    return spaces.Dict(dict(found))


def flat_observation(observation: Any) -> Any:
    """An observation of any space, or a batch of them, as an element of its `flat_space`."""
    if isinstance(observation, Mapping | tuple):
        return dict(_leaves(observation))
    return observation


def _leaves(tree: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Everything in a nested space or observation that is not nested itself, by its flat key."""
    inner = tree
    if isinstance(tree, spaces.Space):
        inner = tree.spaces if isinstance(tree, spaces.Dict | spaces.Tuple) else None
    if isinstance(inner, Mapping):
        inner = inner.items()
    elif isinstance(inner, tuple):
        inner = enumerate(inner)
    else:
        yield prefix.removesuffix("."), tree
        return
    for key, part in inner:
        yield from _leaves(part, f"{prefix}{key}.")


def batched(space: Space, observation: Any) -> tuple[Any, bool]:
    """An observation (array, list or dict) with a leading batch axis, and whether it had one.

    For a nested space, the observation may be nested or already flat.

    Raises:
        ValueError: if its shape fits neither one observation nor a batch of them, or if a
            discrete space does not have a number in it.
    """
    if isinstance(space, spaces.Dict):
        return _batched_parts(space, observation)
    _refuse_info(observation)
    array, shape = np.asarray(observation), space.shape or ()
    _refuse_other_numbers(space, array)
    if array.shape == shape:
        return array[None], False
    if array.shape[1:] == shape and array.ndim > 0:
        return array, True
    batch = ", ".join(["B", *map(str, shape)])
    raise ValueError(
        f"this agent takes observations of shape {shape}, or a batch of them of shape ({batch}), "
        f"got {array.shape}"
    )


def batch_size(batch: Any) -> int:
    """B, for observations [B, …] or a dict of them."""
    return len(next(iter(batch.values())) if isinstance(batch, Mapping) else batch)


def _refuse_info(observation: Any) -> None:
    """ValueError for the pair that `env.reset()` returns: the observation is its first part."""
    is_pair = isinstance(observation, tuple) and len(observation) == 2
    if is_pair and isinstance(observation[1], dict):
        raise ValueError(
            "an observation of this agent is the first of the two that env.reset() returns: "
            "observation, info = env.reset()"
        )


def _refuse_other_numbers(space: Space, array: Array) -> None:
    """ValueError for numbers that a space of whole numbers, or of switches, does not have."""
    if isinstance(space, spaces.MultiBinary):
        are_in_space = ((array == 0) | (array == 1)).all()
    elif isinstance(space, spaces.Discrete | spaces.MultiDiscrete):
        if array.dtype.kind not in "iu":
            raise ValueError(f"this agent takes whole numbers of {space}, got {array.dtype}")
        sizes: Any = space.n if isinstance(space, spaces.Discrete) else space.nvec
        if array.shape[array.ndim - np.ndim(sizes) :] != np.shape(sizes):
            return  # the shape is refused
        counted = array - space.start
        are_in_space = ((counted >= 0) & (counted < sizes)).all()
    else:
        return
    if not are_in_space:
        raise ValueError(f"this agent takes observations of {space}, got {array.tolist()!r:.80}")


def _batched_parts(space: spaces.Dict, given: Any) -> tuple[dict[str, Any], bool]:
    observation = given
    if not isinstance(observation, Mapping) or not space.spaces.keys() <= observation.keys():
        observation = flat_observation(observation)  # as the environment gives it
    if not isinstance(observation, Mapping) or not space.spaces.keys() <= observation.keys():
        _refuse_info(given)
        found = f"the keys {[*observation]}" if isinstance(observation, Mapping) else "no dict"
        expected = f"a dict with the keys {[*space.spaces]}"
        raise ValueError(f"an observation of this agent is {expected}, got {found}")
    parts = {key: _batched_part(key, part, observation) for key, part in space.spaces.items()}
    if len({had for _, had in parts.values()}) > 1:
        raise ValueError("some parts of the observation are batched and others are not")
    sizes = {key: len(value) for key, (value, _) in parts.items()}
    if len(set(sizes.values())) > 1:
        raise ValueError(f"the parts of the observation are batches of different sizes: {sizes}")
    return {key: value for key, (value, _) in parts.items()}, next(iter(parts.values()))[1]


def _batched_part(key: str, space: Space, observation: Mapping[str, Any]) -> tuple[Any, bool]:
    try:
        return batched(space, observation[key])
    except ValueError as error:
        raise ValueError(f"key {key!r}: {error}") from None
