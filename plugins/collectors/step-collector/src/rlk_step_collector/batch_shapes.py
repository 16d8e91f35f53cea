"""Checks that a vector environment returns one row for each environment. N environments.

Storages copy by numpy's assignment, which would broadcast arrays that are too small. The backends
of rlk check each environment themselves; this is for vectors that a program passes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from rlk.errors import EnvironmentFailed
from rlk.spaces import describe

if TYPE_CHECKING:
    from rlk.running.run import Run


def check_observation(run: Run, observation: Any) -> None:
    """Does nothing if it is [N, …] of the run's observation space.

    Raises:
        EnvironmentFailed: if not; names the part, its shape, and the expected shape.
    """
    for name, part, space in _parts("observation", observation, run.observation_space):
        expected = (run.n_envs, *(space.shape or ()))
        if np.shape(part) != expected:
            raise _wrong(run, name, np.shape(part), f"{expected}, for {describe(space)}")


def check_rewards_and_flags(run: Run, reward: Any, terminated: Any, truncated: Any) -> None:
    """Does nothing if they are arrays [N] of numbers and of booleans.

    Raises:
        EnvironmentFailed: for the first array that is not.
    """
    kinds = {"reward": (reward, "fiu"), "terminated": (terminated, "b")}
    for name, (values, kind) in {**kinds, "truncated": (truncated, "b")}.items():
        array = np.asarray(values)
        if array.shape != (run.n_envs,) or array.dtype.kind not in kind:
            found = f"{array.dtype} {array.shape}"
            raise _wrong(run, name, found, f"{'bool' if kind == 'b' else 'float'} {(run.n_envs,)}")


def _parts(name: str, observation: Any, space: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            yield from _parts(f"{name}[{key!r}]", observation[key], part)
    else:
        yield name, observation, space


def _wrong(run: Run, name: str, found: Any, expected: str) -> EnvironmentFailed:
    vector = type(run.env.unwrapped).__name__
    return EnvironmentFailed(
        f"vector environment {vector} ({run.plan.env.name}) gave a wrong {name}: {found}; expected "
        f"{expected}.\nNothing was learnt from it. Correct the vector environment."
    )
