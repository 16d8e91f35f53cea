"""Converts an expert's data to the shapes and types of a run's spaces, or refuses it.

Shapes: M transitions, D action dimensions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk.spaces import action_size, describe, is_image
from rlk_expert_data.images import is_paths, read_images


def observations_in(space: Any, observation: Array, whose: str) -> Array:
    """Observations [M, *shape], with the dtype of the space; a Box's bounds are not checked.

    Args:
        observation: [M, …], or the paths of images, which are read.
        whose: the name of the data in errors.

    Raises:
        PlanError: if they have another form, or a number is not one of the space or its dtype.
    """
    array = observation
    if is_paths(array):
        if not is_image(space):
            raise _misfit(whose, "observations", "images in files", space)
        array = read_images(array)
    if not isinstance(
        space, (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)
    ):
        raise PlanError(
            f"{whose}: imitation learns nothing from observations in {describe(space)}. "
            "Flatten them, also where the expert is recorded: --plugin "
            "gymnasium.wrappers:FlattenObservation"
        )
    shape = tuple(space.shape or ())
    if array.shape[1:] not in (shape, (*shape, 1)) or array.dtype.kind not in "fiub":
        raise _misfit(whose, "observations", _form(array), space)
    if not np.isfinite(array).all():
        raise PlanError(f"{whose}: some observations are not finite.")
    return _cast(space, array.reshape(len(array), *shape), whose)


def parts_in(space: Any, observation: Array, whose: str) -> Any:
    """The same for any space: for a Dict, a dict of such arrays.

    Args:
        observation: as in `observations_in`; for a Dict, a structured array [M] of its parts.

    Raises:
        PlanError: as `observations_in` does, and if a Dict has other keys.
    """
    if not isinstance(space, spaces.Dict):
        return observations_in(space, observation, whose)
    if set(observation.dtype.names or ()) != set(space.spaces):
        raise _misfit(whose, "observations", _form(observation), space)
    return {
        key: observations_in(part, observation[key], f"{whose}, key {key!r}")
        for key, part in space.spaces.items()
    }


def _cast(space: Any, array: Array, whose: str) -> Array:
    """Observations [M, *shape] in the dtype of their space; PlanError if a number would change."""
    with np.errstate(over="ignore", invalid="ignore"):  # what has no place there is refused below
        fitted: Array = array.astype(space.dtype, copy=False)
    if fitted.dtype.kind == "f":
        changed = np.isinf(fitted)
    elif not isinstance(space, spaces.Box):
        first, choices = _range(space)
        flat = array.reshape(len(array), -1)
        counted = fitted.reshape(flat.shape).astype(np.int64) - first
        changed = (counted < 0) | (counted >= choices) | (counted + first != flat)
    elif fitted.dtype == array.dtype:
        return fitted
    else:
        changed = fitted != array
    if changed.any():
        wrong = array.reshape(-1)[changed.reshape(-1)][0]
        raise PlanError(
            f"{whose}: the expert's observations are not all in {describe(space)}: {wrong} is not. "
            "Record it in the environment that is learnt in, without scaling its observations."
        )
    return fitted


def actions_in(space: Any, action: Array, whose: str) -> Array:
    """Actions as storages keep them: for a Discrete space int64 [M], counted from 0; else [M, D].

    Actions of a Box are float32.

    Args:
        action: as the environment takes them, [M, …]; [M, 1] for a Discrete space.
        whose: the name of the data in errors.

    Raises:
        PlanError: if they are not elements of this space.
    """
    flat = action.reshape(len(action), -1)
    if flat.shape[1] != max(1, action_size(space)) or flat.dtype.kind not in "fiub":
        raise _misfit(whose, "actions", f"{flat.dtype} {action.shape[1:]}", space)
    if not np.isfinite(flat).all():
        raise PlanError(f"{whose}: some actions are not finite.")
    if isinstance(space, spaces.Box):
        with np.errstate(over="ignore"):
            floats: Array = flat.astype(np.float32, copy=False)
        if not np.isfinite(floats).all():
            raise PlanError(f"{whose}: some actions are too large for float32.")
        return floats
    first, choices = _range(space)
    counted = flat.astype(np.int64) - first
    inside = (counted >= 0) & (counted < choices)
    if not inside.all() or not np.array_equal(counted + first, flat):
        raise PlanError(
            f"{whose}: the expert's actions are not all in {describe(space)}. Record it in the "
            "environment that is learnt in."
        )
    return counted[:, 0] if isinstance(space, spaces.Discrete) else counted


def _range(space: Any) -> tuple[Any, Any]:
    """(the first, the count) of the whole numbers in every dimension."""
    if isinstance(space, spaces.MultiBinary):
        return 0, 2
    if isinstance(space, spaces.Discrete):
        return int(space.start), int(space.n)
    return space.start.reshape(-1), space.nvec.reshape(-1)


def _form(observation: Array) -> str:
    """What these observations [M, …] are, in words."""
    if observation.dtype.names:
        return f"the keys {', '.join(observation.dtype.names)}"
    return f"{observation.dtype} {observation.shape[1:]}"


def _misfit(whose: str, name: str, found: str, space: Any) -> PlanError:
    return PlanError(
        f"{whose}: the expert's {name} have another form ({found}) than the run's, "
        f"{describe(space)}. Record the expert in the environment that is learnt in."
    )
