"""Masks of actions: their length, their place in an observation, and their validation.

A mask says for each of M options whether it is allowed, in the layout of sb3-contrib: the options
of all choices of an action (`rlk.spaces.choices_of`), one choice after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import Space, choices_of, describe

TITLE = "plugin 'action-masking' (rlk-action-masking)"
#: The key of the mask in an observation.
KEY = "action_mask"
#: The key of an observation that is not a dict, beside its mask.
OBSERVATION = "observation"
_BOOL = np.dtype(np.bool_)
_LAYOUT = (
    "A mask is bool [n] for Discrete; for MultiDiscrete the options of all choices, one choice "
    "after the other; for MultiBinary off and on of every switch."
)


def options(action_space: Space) -> list[int]:
    """How many options each choice of an action has.

    Raises:
        PlanError: for an action space that has no finite number of options.
    """
    try:
        return choices_of(action_space)[0]
    except ValueError:
        raise PlanError(
            f"{TITLE} masks actions that can be counted (Discrete, MultiDiscrete, MultiBinary), "
            f"but the environment's are {describe(action_space)}. Leave out --plugin "
            "action-masking."
        ) from None


def with_mask(observation_space: Space, action_space: Space) -> spaces.Dict:
    """The space of observations with a mask added; a Dict keeps its other keys.

    Raises:
        PlanError: if the action space cannot be masked, or the key of the mask already exists.
    """
    parts = {OBSERVATION: observation_space}
    if isinstance(observation_space, spaces.Dict):
        parts = dict(observation_space.spaces)
    if KEY in parts:
        raise PlanError(
            f"{TITLE} puts the mask of an observation under the key {KEY!r}, but the environment's "
            "observations have that key already. If it is the mask, use --plugin no:action-masks; "
            "else give the environment's key another name."
        )
    return spaces.Dict({**parts, KEY: spaces.MultiBinary(sum(options(action_space)))})


def without_mask(observation_space: Space) -> Space | None:
    """The space of observations without their mask, or None if they have no mask.

    A Dict in which only the key `observation` is left becomes the space of that key.
    """
    if not isinstance(observation_space, spaces.Dict) or KEY not in observation_space.spaces:
        return None
    parts = {key: part for key, part in observation_space.spaces.items() if key != KEY}
    return parts[OBSERVATION] if set(parts) == {OBSERVATION} else spaces.Dict(parts)


def observation_with_mask(observation: Any, mask: Array) -> dict[str, Any]:
    """An observation, or a batch, with its mask: an element of the space of `with_mask`."""
    if isinstance(observation, Mapping):
        return {**observation, KEY: mask}
    return {OBSERVATION: observation, KEY: mask}


def as_booleans(given: Any, subject: str) -> Array:
    """Masks in any form as an array of booleans.

    Args:
        given: booleans, or the numbers 0 and 1 (integers or floats), as an array or nested lists.
        subject: how an error begins, such as "action_masks() returned".

    Raises:
        ValueError: for other values, and for rows of different lengths.
    """
    try:
        array = np.asarray(given)
    except ValueError as error:
        text = f"{subject} {given!r:.60}, which is not one array of booleans. {_LAYOUT}"
        raise ValueError(text) from error
    is_number = array.dtype.kind in "iuf"
    if array.dtype != _BOOL and not (is_number and ((array == 0) | (array == 1)).all()):
        found = f"{array.dtype} {array.tolist()!r:.60}"
        raise ValueError(f"{subject} {found}, not booleans. {_LAYOUT}")
    return array.astype(np.bool_)


def mask_check(action_space: Space) -> Callable[..., Array]:
    """A function that checks the result of `action_masks()` and returns it as int8 [M], a copy.

    It raises ValueError for anything but M booleans (or zeros and ones), and, unless it is called
    with `may_be_empty=True`, if a choice has no allowed option. It is a function, not an object, so
    that environments which hold it can be saved.
    """
    each = options(action_space)
    size, bounds = sum(each), list(pairwise(accumulate(each, initial=0)))

    def checked(given: Any, may_be_empty: bool = False) -> Array:
        mask = given
        if type(mask) is not np.ndarray or mask.dtype is not _BOOL:
            mask = as_booleans(given, "action_masks() returned")
        if mask.size != size:
            raise ValueError(
                f"action_masks() returned {mask.size} numbers, but {describe(action_space)} has "
                f"{size} options. {_LAYOUT}"
            )
        # Searching bytes takes 0.1 µs; `any` takes 3.
        allowed = mask.tobytes()
        if not may_be_empty:
            for number, (start, stop) in enumerate(bounds):
                if allowed.find(1, start, stop) < 0:
                    raise ValueError(_nothing_left("action_masks()", number, len(bounds)))
        return mask.reshape(-1).astype(np.int8)

    return checked


def empty_mask_check(action_space: Space) -> Callable[[Any], None]:
    """A function that raises ValueError if the mask of an observation leaves a choice no option.

    It takes observations [B, ...] with masks [B, M] under `KEY`.
    """
    each = options(action_space)
    starts = [0, *accumulate(each[:-1])]

    def check(observation: Any) -> None:
        has_options = np.logical_or.reduceat(observation[KEY], starts, axis=1)
        if not has_options.all():
            row, number = np.argwhere(~has_options)[0]
            raise ValueError(_nothing_left(f"{KEY!r} (row {row})", number, len(each)))

    return check


def _nothing_left(whose: str, number: int, choices: int) -> str:
    which = "no action" if choices == 1 else f"nothing for choice {number} of {choices}"
    return (
        f"{whose} allows {which}, and the episode has not ended. End it in the step that "
        "leaves nothing to do (terminated), or allow an action that does nothing."
    )
