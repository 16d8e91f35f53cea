"""`VecFrameStack`: the latest frames of every environment as one observation. N environments."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.vec_env.base_vec_env import Stepped, VecEnv, VecEnvWrapper


class VecFrameStack(VecEnvWrapper):
    """Observations beside each other on their last axis, the newest last.

    An episode begins with zeros where frames are missing.

    Args:
        venv: the vector; its observations are a Box.
        n_stack: how many frames, at least 1.

    Raises:
        PlanError: for other observations.
    """

    def __init__(self, venv: VecEnv, n_stack: int) -> None:
        space = venv.observation_space
        if not isinstance(space, spaces.Box) or not space.shape:
            raise PlanError(f"VecFrameStack takes a Box with axes, got {space}.")
        if n_stack < 1:
            raise PlanError(f"VecFrameStack stacks at least 1 frame, got n_stack={n_stack}.")
        low = np.repeat(space.low, n_stack, axis=-1)
        high = np.repeat(space.high, n_stack, axis=-1)
        self.n_stack = n_stack
        self._width = space.shape[-1]
        self.stackedobs: Array = np.zeros((venv.num_envs, *low.shape), space.dtype)
        stacked: Any = spaces.Box(low, high, dtype=space.dtype.type)
        super().__init__(venv, observation_space=stacked)

    def reset(self) -> Array:
        self.stackedobs[...] = 0
        self.stackedobs[..., -self._width :] = self.venv.reset()
        return self.stackedobs.copy()

    def step_wait(self) -> Stepped:
        """As of `VecEnv`; `terminal_observation` is stacked too."""
        observation, rewards, dones, infos = self.venv.step_wait()
        self.stackedobs = np.roll(self.stackedobs, shift=-self._width, axis=-1)
        for i in np.flatnonzero(dones).tolist():
            if "terminal_observation" in infos[i]:
                before = self.stackedobs[i, ..., : -self._width]
                last = np.asarray(infos[i]["terminal_observation"], self.stackedobs.dtype)
                infos[i]["terminal_observation"] = np.concatenate([before, last], axis=-1)
            self.stackedobs[i] = 0
        self.stackedobs[..., -self._width :] = observation
        return self.stackedobs.copy(), rewards, dones, infos
