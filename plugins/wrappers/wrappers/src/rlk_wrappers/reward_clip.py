"""`reward-clip`: keeps rewards within bounds; large ones can upset learning. N environments.

Mnih et al. 2015 (doi:10.1038/nature14236) clip the rewards of all Atari games to [-1, 1], so that
one learning rate fits all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.vector import VectorEnv

from rlk_wrappers.config_steps import RewardClipConfig
from rlk_wrappers.layer import Result, VectorLayer
from rlk_wrappers.vector_monitor import monitored


def reward_clip(
    env: VectorEnv[Any, Any, Any],
    config: RewardClipConfig | None = None,
    *,
    training: bool = True,
    **_: Any,
) -> VectorEnv[Any, Any, Any]:
    """Wraps the environments of training; those of an evaluation keep their own rewards."""
    return RewardClip(env, config) if training else env


class RewardClip(VectorLayer):
    """Rewards, float [N], clipped to [min_reward, max_reward], or first reduced to their sign.

    If no monitor is inside, one is put there, so that reported returns are the environment's.
    """

    name = "reward-clip"

    def __init__(self, env: VectorEnv[Any, Any, Any], config: RewardClipConfig | None = None):
        super().__init__(monitored(env))
        self._config = config or RewardClipConfig()

    def _stepped(self, actions: Any, result: Result) -> Result:
        observation, reward, terminated, truncated, infos = result
        low, high = self._config.min_reward, self._config.max_reward
        reward = np.sign(reward) if self._config.sign else reward
        return observation, np.clip(reward, low, high), terminated, truncated, infos
