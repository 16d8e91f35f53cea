"""Vector environments as the loop takes them.

Gymnasium's own interface, with episodes restarted in the same step.

Two promises the loop makes use of, and `rlk.testing.VecEnvContract` checks: the arrays a step
returns stay valid during the next step (so an observation can be stored after the action on it was
taken), and infos are empty but where an episode ended, but for the `info_keys` it was made with.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk import spaces
from rlk.errors import PlanError
from rlk.records import Array


def autoreset_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """How a vector environment restarts finished episodes.

    Gymnasium's default where it does not say.
    """
    return AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))


def same_step(env: VectorEnv[Any, Any, Any]) -> VectorEnv[Any, Any, Any]:
    """The environment as it is, or adapted, so that finished episodes restart in the same step.

    Raises:
        PlanError: for an environment that restarts in the next step and cannot be told otherwise.
    """
    mode = autoreset_mode(env)
    if mode == AutoresetMode.SAME_STEP:
        return env
    if mode == AutoresetMode.DISABLED:
        return ResetWhereEnded(env)
    raise PlanError(
        f"vector environment {type(env).__name__} restarts episodes in the step after their end, "
        "which puts a "
        "step that is none between them. Make it with autoreset_mode=AutoresetMode.SAME_STEP or "
        "DISABLED."
    )


class ResetWhereEnded(gym.vector.VectorWrapper[Any, Any, Any, Any]):
    """Same-step restarts for an environment that leaves them to its user, by a masked reset."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        ended = np.logical_or(terminated, truncated)
        if not ended.any():
            return observation, reward, terminated, truncated, infos
        final = np.full(self.num_envs, None, dtype=object)
        for env in np.flatnonzero(ended):
            final[env] = spaces.map_observation(partial(_row, int(env)), observation)
        observation, reset_infos = self.env.reset(options={"reset_mask": ended})
        return (
            observation,
            reward,
            terminated,
            truncated,
            {
                **reset_infos,
                "final_obs": final,
                "_final_obs": ended,
                "final_info": infos,
                "_final_info": ended,
            },
        )


def _row(env: int, part: Array) -> Array:
    """A copy of one environment's part of a batch of observations."""
    row: Array = np.copy(part[env])
    return row
