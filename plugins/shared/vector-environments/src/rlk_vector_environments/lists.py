"""Vector environments that return a list of infos, such as SuperSuit's of PettingZoo's agents.

They have only the base class in common with Gymnasium's: their `observation_space` is that of one
environment, episodes restart in the same step, and the last observation of an episode is
`terminal_observation` in its info.
N is the number of environments.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from rlk_vector_environments import rows
from rlk_vector_environments.arguments import resolve_reset
from rlk_vector_environments.infos import ended as of_ends
from rlk_vector_environments.infos import gather


def gives_lists(env: Any) -> bool:
    """Whether a vector environment is of this form: it has no spaces of a single environment."""
    return isinstance(env, VectorEnv) and not hasattr(env, "single_observation_space")


class FromLists(VectorEnv[Any, Any, Any]):
    """Such a vector environment in Gymnasium's form, with same-step restarts.

    All of its environments are reset together, with the seed of the first one: the agents of a game
    share one. The infos of a reset, whose form differs between such vectors, are left out.
    """

    def __init__(self, env: Any) -> None:
        self.env, self.num_envs = env, int(env.num_envs)
        self.single_observation_space: gym.Space[Any] = env.observation_space
        self.single_action_space: gym.Space[Any] = env.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}
        self.render_mode = env.render_mode

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        seeds, _, _ = resolve_reset(self.num_envs, seed, None)
        observation, _ = self.env.reset(seed=seeds[0], options=options)
        return observation, {}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        terminated, truncated = np.asarray(terminated, bool), np.asarray(truncated, bool)
        ended, ends = terminated | truncated, []
        for i in np.flatnonzero(ended).tolist():
            info = dict(infos[i])
            final = info.pop("terminal_observation", None)
            ends.append((i, rows.read(observation, i) if final is None else final, info))
        going_on = [(i, infos[i]) for i in np.flatnonzero(~ended).tolist()]
        found = gather(self.num_envs, going_on)
        if ends:
            found.update(of_ends(self.num_envs, ends))
        return observation, np.asarray(reward, np.float32), terminated, truncated, found

    def render(self) -> Any:
        return self.env.render()

    def close_extras(self, **kwargs: Any) -> None:
        self.env.close()
