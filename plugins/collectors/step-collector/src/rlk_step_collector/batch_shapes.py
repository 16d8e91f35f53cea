"""Checks that a vector environment returns one row for each environment. N environments.

Storages copy by numpy's assignment, which would broadcast arrays that are too small. The backends
of rlk check each environment themselves; this is for vectors that a program passes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    for name, values, kinds in (
        ("reward", reward, "fiu"),
        ("terminated", terminated, "b"),
        ("truncated", truncated, "b"),
    ):
        expected = f"{'bool' if kinds == 'b' else 'float'} {(run.n_envs,)}"
        if not isinstance(values, np.ndarray):
            found = f"{values!r:.60} ({type(values).__name__})"
            raise _wrong(run, name, found, f"an array, {expected}")
        if values.shape != (run.n_envs,) or values.dtype.kind not in kinds:
            raise _wrong(run, name, f"{values.dtype} {values.shape}", expected)


def final_observation(run: Run, infos: Mapping[str, Any], env: int) -> Any:
    """The last observation of the episode that ended in an environment.

    Raises:
        EnvironmentFailed: if the infos of the step do not have it.
    """
    finals = infos.get("final_obs")
    final = None if finals is None else finals[env]
    if final is None:
        raise EnvironmentFailed(
            f"vector environment {_vector(run)} gave no final observation of environment {env}, "
            f"whose episode ended in this step: its infos have the keys {list(infos)}.\nNothing "
            f"was learnt from this step. Let it give infos['final_obs'], objects {(run.n_envs,)}: "
            "the last observation of each episode that ended (Gymnasium: AutoresetMode.SAME_STEP)."
        )
    return final


def _parts(name: str, observation: Any, space: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(space, spaces.Dict):
        for key, part in space.spaces.items():
            yield from _parts(f"{name}[{key!r}]", observation[key], part)
    else:
        yield name, observation, space


def _wrong(run: Run, name: str, found: Any, expected: str) -> EnvironmentFailed:
    return EnvironmentFailed(
        f"vector environment {_vector(run)} gave a wrong {name}: {found}; expected {expected}.\n"
        "Nothing was learnt from it. Correct the vector environment."
    )


def _vector(run: Run) -> str:
    return f"{type(run.env.unwrapped).__name__} ({run.plan.env.name})"
