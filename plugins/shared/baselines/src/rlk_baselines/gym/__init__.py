"""The old interface of gym over Gymnasium: `reset` returns the observation, `step` four values.

A program written for gym 0.21 or earlier runs with `from rlk_baselines import gym`. Environments
from `make` can be passed to all functions of rlk and `rlk_baselines`.
"""

from __future__ import annotations

import gymnasium
from gymnasium.envs.registration import register, spec

from rlk_baselines.gym import envs, error, logger, spaces, utils, wrappers
from rlk_baselines.gym.core import (
    ActionWrapper,
    Env,
    GoalEnv,
    ObservationWrapper,
    RewardWrapper,
    Space,
    Wrapper,
)
from rlk_baselines.gym.making import make

__version__ = f"0.21 over Gymnasium {gymnasium.__version__}"

__all__ = [
    "ActionWrapper",
    "Env",
    "GoalEnv",
    "ObservationWrapper",
    "RewardWrapper",
    "Space",
    "Wrapper",
    "envs",
    "error",
    "logger",
    "make",
    "register",
    "spaces",
    "spec",
    "utils",
    "wrappers",
]
