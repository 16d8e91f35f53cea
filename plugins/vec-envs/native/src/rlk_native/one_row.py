"""A vector of one environment with next-step restarts, as a single environment."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
from gymnasium.vector import VectorEnv

from rlk_vector_environments import rows
from rlk_vector_environments.infos import of_row


class OneRow(gym.Env[Any, Any]):
    """A single environment whose `reset` takes the extra step that restarts the vector's episode.

    Args:
        vector: of one environment, which restarts an episode in the step after its end.
    """

    def __init__(self, vector: VectorEnv[Any, Any, Any]) -> None:
        self.vector = vector
        self.observation_space = vector.single_observation_space
        self.action_space = vector.single_action_space
        self.metadata, self.render_mode = vector.metadata, vector.render_mode
        self.spec = vector.spec
        self._actions = rows.allocate(self.action_space, 1)
        self._write = rows.writer(self._actions)
        self._has_ended = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        restarts, self._has_ended = self._has_ended and seed is None and options is None, False
        if restarts:  # whatever the action is, it is ignored
            observation, *_, infos = self.vector.step(rows.view(self._actions))
        else:
            observation, infos = self.vector.reset(seed=seed, options=options)
        return rows.read(observation, 0), of_row(infos, 0)

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        self._write(0, action)
        result = self.vector.step(rows.view(self._actions))
        observation, reward, terminated, truncated, infos = result
        over, cut = bool(terminated[0]), bool(truncated[0])
        self._has_ended = over or cut
        return rows.read(observation, 0), float(reward[0]), over, cut, of_row(infos, 0)

    def render(self) -> Any:
        frames = self.vector.render()
        return None if frames is None else frames[0]

    def close(self) -> None:
        self.vector.close()
