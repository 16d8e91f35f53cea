"""Spaces in files, in JSON's types, and compared: with the bounds that `describe` leaves out.

Bounds that are the same along an axis are written once for it, so those of an image are two
numbers. This module imports Gymnasium, so `saved_plan` loads it only when there is an environment.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.documents import with_words
from rlk.errors import BadFile, PlanError
from rlk.records import Array
from rlk.spaces import Space, describe, kinds

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

#: Of an element of a space in a file: a short text can ask for far more than the memory holds.
MAX_BYTES = 256 << 20
_USE_THE_SAME = "Use an environment that has the same spaces (--env, or env= in a program)."
_WRAP = "Use an environment that has the same bounds, or wrap it so that it has them: in"
_BEGIN = "To train on in this one, begin a new run with the policy: --plugin model-start:path=MODEL"
_OF_OTHER_BOUNDS = {
    "observation_space": f"{_WRAP} gymnasium.wrappers.RescaleObservation if its numbers are of "
    f"another scale, in TransformObservation if they mean the same. {_BEGIN}",
    "action_space": f"{_WRAP} gymnasium.wrappers.RescaleAction. {_BEGIN}",
}
_DAMAGES = (KeyError, TypeError, ValueError, AssertionError, AttributeError, OverflowError)


def space_state(space: Space) -> dict[str, Any] | None:
    """A space as JSON values; None for one that files do not hold, of its kind or so large."""
    arrays = (spaces.Box, spaces.MultiBinary)
    if isinstance(space, arrays) and not _fits(space.shape, np.dtype(space.dtype)):
        return None
    if isinstance(space, spaces.Box):
        bounds = {"low": _bound(space.low), "high": _bound(space.high)}
        return {"kind": "Box", "shape": [*space.shape], "dtype": str(space.dtype), **bounds}
    if isinstance(space, spaces.Discrete):
        return {"kind": "Discrete", "n": int(space.n), "start": int(space.start)}
    if isinstance(space, spaces.MultiDiscrete):
        options = {"nvec": space.nvec.tolist(), "start": space.start.tolist()}
        return {"kind": "MultiDiscrete", "dtype": str(space.dtype), **options}
    if isinstance(space, spaces.MultiBinary):
        return {"kind": "MultiBinary", "n": space.n if isinstance(space.n, int) else [*space.n]}
    if isinstance(space, spaces.Dict):
        parts = {key: space_state(part) for key, part in space.spaces.items()}
        return None if None in parts.values() else {"kind": "Dict", "parts": parts}
    return None


def space_of(state: Any) -> Space:
    """The space that `space_state` wrote.

    Raises:
        BadFile: if the state is damaged, or asks for elements of more than `MAX_BYTES`.
    """
    try:
        return _MADE[state["kind"]](state)
    except _DAMAGES as error:
        raise BadFile(f"a saved space is damaged: {type(error).__name__}: {error}.") from None


def same_sizes(one: Space, other: Space) -> bool:
    """Whether two spaces are of one kind and size.

    The bounds and the dtype of a Box may differ, and so may the order of a Dict's keys.
    """
    if isinstance(one, spaces.Dict) and isinstance(other, spaces.Dict):
        return one.spaces.keys() == other.spaces.keys() and all(
            same_sizes(part, other[key]) for key, part in one.spaces.items()
        )
    return type(one) is type(other) and _size(one) == _size(other)


def _size(space: Space) -> list[Any]:
    """What tells the size of a space: of these attributes those that one of its kind has."""
    return [np.asarray(getattr(space, key, ())).tolist() for key in ("shape", "n", "nvec", "start")]


def same_bounds(one: Space, other: Space, *, infinite: bool) -> bool:
    """Whether all parts of two spaces of the same sizes have the same bounds, and are images alike.

    Args:
        one, other: the spaces.
        infinite: whether an infinite bound differs from a finite one.
    """
    if isinstance(one, spaces.Dict) and isinstance(other, spaces.Dict):
        parts = other.spaces.items()
        return all(same_bounds(one[key], part, infinite=infinite) for key, part in parts)
    if not isinstance(one, spaces.Box) or not isinstance(other, spaces.Box):
        return True
    if kinds(one) != kinds(other):
        return False
    pairs = ((one.low, other.low), (one.high, other.high))
    return all(_same_bound(*pair, infinite=infinite) for pair in pairs)


def _same_bound(one: Array, other: Array, *, infinite: bool) -> bool:
    """Whether one bound is the same everywhere, up to rounding, as Gymnasium compares a Box."""
    one, other = one.astype(np.float64), other.astype(np.float64)
    is_compared = infinite | (np.isfinite(one) & np.isfinite(other))
    return bool(np.all(np.isclose(one, other) | ~is_compared))


def _bound(bound: Array) -> Any:
    """One bound of every number: nested lists, of length 1 on an axis along which it is equal."""
    found = bound.astype(np.float64) if bound.dtype.kind == "f" else bound
    for axis in range(found.ndim):
        first = found.take([0], axis)
        if np.all(found == first):
            found = first
    return with_words(found.item() if found.size == 1 else found.tolist())


def _box(state: Mapping[str, Any]) -> Space:
    dtype = _dtype(state)
    shape = _shape(state["shape"], dtype)
    # The texts of infinite numbers are read as floats; whole numbers may be too large for one.
    read = np.float64 if dtype.kind == "f" else dtype
    low, high = (
        np.broadcast_to(np.asarray(state[key], read).astype(dtype), shape)
        for key in ("low", "high")
    )
    return spaces.Box(low, high, dtype=dtype.type)


def _dtype(state: Mapping[str, Any]) -> np.dtype[Any]:
    dtype: np.dtype[Any] = np.dtype(state["dtype"])
    if dtype.kind not in "biuf":
        raise ValueError(f"{dtype} is no dtype of numbers")
    return dtype


def _shape(axes: Sequence[Any], dtype: np.dtype[Any]) -> tuple[int, ...]:
    shape = tuple(map(int, axes))
    if min(shape) < 1 or not _fits(shape, dtype):
        raise ValueError(f"the shape {shape} of {dtype} does not have 1 to {MAX_BYTES:,} bytes")
    return shape


def _fits(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether elements of a space are small enough for a file to ask for them."""
    return math.prod(shape) * dtype.itemsize <= MAX_BYTES


def _multi_discrete(state: Mapping[str, Any]) -> Space:
    dtype = _dtype(state)
    nvec, start = (np.asarray(state[key], dtype) for key in ("nvec", "start"))
    return spaces.MultiDiscrete(nvec, dtype=dtype.type, start=start)


def _multi_binary(state: Mapping[str, Any]) -> Space:
    n = state["n"]
    shape = _shape(n if isinstance(n, list) else [n], np.dtype(np.int8))
    return spaces.MultiBinary(shape if isinstance(n, list) else shape[0])


def _dict(state: Mapping[str, Any]) -> Space:
    return spaces.Dict(OrderedDict((key, space_of(part)) for key, part in state["parts"].items()))


_MADE: Mapping[str, Callable[[Mapping[str, Any]], Space]] = {
    "Box": _box,
    "Discrete": lambda state: spaces.Discrete(int(state["n"]), start=int(state["start"])),
    "MultiDiscrete": _multi_discrete,
    "MultiBinary": _multi_binary,
    "Dict": _dict,
}


# ---- of a plan and of its file -------------------------------------------------------------------


def check_spaces_of_saved(saved: Mapping[str, Any], plan: Plan, file: str) -> None:
    """PlanError if the spaces of a plan are not those of the file that it is from.

    The bounds of a Box count as well: those of actions are the units that a policy acts in, and
    those of observations tell what is an image. Infinite bounds of observations are not compared,
    because releases of an environment differ in them. The dtype of a Box may differ, unless it
    tells an image, and so may the order of a Dict's keys.

    Args:
        saved: the environment in the file's plan.
        plan: the plan that the file's state is for.
        file: its name in the message.
    """
    for key in ("observation_space", "action_space"):
        difference = _difference(saved, plan, key)
        if difference is not None:
            there, here, advice = difference
            raise PlanError(
                f"{file} was trained on {saved['name']!r}, whose {key} is {there}, but that of "
                f"{plan.env.name!r} is {here}. {advice}"
            )


def has_saved_size(saved: Mapping[str, Any], key: str, space: Space) -> bool:
    """Whether a space has the kind and size of one in a saved environment, maybe a text alone."""
    state = saved["spaces"].get(key)
    return saved[key] == describe(space) if state is None else same_sizes(space_of(state), space)


def _difference(saved: Mapping[str, Any], plan: Plan, key: str) -> tuple[str, str, str] | None:
    """The space in the file, that of the plan, and what to do; None if they are alike."""
    space, state = getattr(plan, key), saved["spaces"].get(key)
    if not has_saved_size(saved, key, space):
        return saved[key], describe(space), _USE_THE_SAME
    before = space if state is None else space_of(state)
    if same_bounds(before, space, infinite=key == "action_space"):
        return None
    return _with_bounds(before), _with_bounds(space), _OF_OTHER_BOUNDS[key]


def _with_bounds(space: Any) -> str:
    """One line of text, unlike `rlk.spaces.describe` with the bounds of a Box."""
    return " ".join(str(space).split())
