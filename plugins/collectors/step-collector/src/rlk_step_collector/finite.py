"""Cheap tests for non-finite numbers of environments; the error names them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.errors import NotFinite
from rlk.records import Array

if TYPE_CHECKING:
    from rlk.running.run import Run


def finite_check(space: spaces.Space[Any]) -> Callable[[Any], bool]:
    """The cheapest test that observations of this space are finite (1 µs for a small one)."""
    if isinstance(space, spaces.Dict):
        parts = {key: finite_check(sub) for key, sub in space.spaces.items()}
        return lambda observation: all(check(observation[key]) for key, check in parts.items())
    if isinstance(space, spaces.Box) and np.issubdtype(np.dtype(space.dtype), np.floating):
        return finite
    return lambda observation: True


def finite(array: Array) -> bool:
    """Whether a float array holds no NaN or infinity, and nothing that is infinite as a float32.

    A sum is finite only if every term is; if the sum itself overflows, every number is checked.
    """
    total = np.add.reduce(array, axis=None, dtype=np.float32)
    return math.isfinite(total) or not _not_finite(array).any()


def _not_finite(array: Array) -> Array:
    """Where storages and policies, which have float32, would have NaN or infinity; bool."""
    with np.errstate(over="ignore"):
        return ~np.isfinite(array.astype(np.float32))


def refuse_non_finite(
    run: Run,
    reward: Array | None,
    observation: Any,
    action: Any = None,
    env: int | None = None,
) -> None:
    """Raises an error that names the environment and the field with a non-finite number.

    Args:
        reward: float [N]; None before the first step.
        observation: [N, …], or of a Dict space a dict of such.
        action: the actions that the environments took, [N, …].
        env: its index, if `observation` has the row of only this one.

    Raises:
        NotFinite: for the first non-finite number, if there is one.
    """
    is_dict = isinstance(observation, Mapping)
    found: dict[str, Any] = dict(observation) if is_dict else {"observation": observation}
    if reward is not None:
        found["reward"] = reward
    for name, values in found.items():
        array = np.asarray(values)
        if not np.issubdtype(array.dtype, np.floating) or not _not_finite(array).any():
            continue
        first, *place = map(int, np.argwhere(_not_finite(array))[0])
        which = first if env is None else env
        shown = "" if action is None else f" after action {np.asarray(action)[first]!r}"
        number = array[first, *place]
        too_large = " (too large for a float32)" if np.isfinite(number) else ""
        raise NotFinite(
            f"environment {which} ({run.plan.env.name}) gave {number}{too_large} in "
            f"{name}{place or ''} at timestep {run.timesteps}{shown}.\nNothing of this "
            "step was stored. Mend the environment, or wrap it to clip what it returns."
        )
