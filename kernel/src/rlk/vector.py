"""Vector environments as the loop takes them: Gymnasium's own, with same-step restarts.

Two promises the loop makes use of, and `rlk.testing.VecEnvContract` checks: the arrays a step
returns stay valid during the next step (so an observation can be stored after the action on it was
taken), and infos are empty but where an episode ended, and but for the `info_keys` it was made
with."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv

from rlk.errors import PlanError
from rlk.spaces import map_observation


def autoreset_mode(env: VectorEnv[Any, Any, Any]) -> AutoresetMode:
    """How a vector environment restarts episodes; Gymnasium's default where it does not say."""
    return AutoresetMode(env.metadata.get("autoreset_mode", AutoresetMode.NEXT_STEP))


def same_step(env: VectorEnv[Any, Any, Any]) -> VectorEnv[Any, Any, Any]:
    """The environment, adapted where needed, so that finished episodes restart in the same step.

    Raises:
        PlanError: for one that restarts in the next step and cannot be told otherwise."""
    mode = autoreset_mode(env)
    if mode == AutoresetMode.NEXT_STEP:
        raise PlanError(
            f"vector environment {type(env).__name__} restarts episodes in the step after their "
            "end, which puts a step that is none between them. Make it with "
            "autoreset_mode=AutoresetMode.SAME_STEP or DISABLED."
        )
    return env if mode == AutoresetMode.SAME_STEP else ResetWhereEnded(env)


class ResetWhereEnded(gym.vector.VectorWrapper[Any, Any, Any, Any]):
    """Same-step restarts for an environment that leaves them to its user, by a masked reset."""

    def __init__(self, env: VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "autoreset_mode": AutoresetMode.SAME_STEP}

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        observation, reward, terminated, truncated, infos = self.env.step(actions)
        ended = np.logical_or(terminated, truncated)
        if ended.any():
            final = np.full(self.num_envs, None, dtype=object)
            kept = map_observation(np.copy, observation)
            for env in np.flatnonzero(ended):
                final[env] = map_observation(itemgetter(env), kept)
            observation, restarted = self.env.reset(options={"reset_mask": ended})
            last = {"final_obs": final, "final_info": infos}
            infos = {**restarted, **last, "_final_obs": ended, "_final_info": ended}
        return observation, reward, terminated, truncated, infos
