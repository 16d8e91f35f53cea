"""Flattens the nested observations of a vector environment.

Storages, policies and statistics expect an observation to be one array, or a dict of arrays. Here
a Tuple, and a Dict of dicts, become such a dict; nothing is copied.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector.utils import batch_space

from rlk.spaces import flat_observation, flat_space, is_nested
from rlk.vector_wrapper import TransparentVector

Result = tuple[Any, Any, Any, Any, dict[str, Any]]


def flattened(env: Any) -> Any:
    """The vector environment, with flat observations if they are nested."""
    return FlatObservations(env) if is_nested(env.single_observation_space) else env


class FlatObservations(TransparentVector):
    """Returns observations of `rlk.spaces.flat_space`, also final ones."""

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        self.single_observation_space = flat_space(env.single_observation_space)
        self.observation_space = batch_space(self.single_observation_space, env.num_envs)

    def reset(
        self, *, seed: Any = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        observation, infos = self.env.reset(seed=seed, options=options)
        return flat_observation(observation), infos

    def step(self, actions: Any) -> Result:
        return _flat(self.env.step(actions))

    def step_async(self, actions: Any) -> None:
        """As the backend's; `step_wait` must follow."""
        self.env.step_async(actions)  # type: ignore[attr-defined]

    def step_wait(self) -> Result:
        return _flat(self.env.step_wait())  # type: ignore[attr-defined]


def _flat(result: Result) -> Result:
    observation, reward, terminated, truncated, infos = result
    if "final_obs" in infos:
        finals = infos["final_obs"]
        flat = np.full(len(finals), None, object)
        for index, final in enumerate(finals):
            if final is not None:
                flat[index] = flat_observation(final)
        infos = {**infos, "final_obs": flat}
    return flat_observation(observation), reward, terminated, truncated, infos
