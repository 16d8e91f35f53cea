"""`VecFrameStack`: stacks the latest frames of every environment into one observation."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.vec_env.base_vec_env import (
    Stepped,
    VecEnv,
    VecEnvWrapper,
    refuse_single,
)


class VecFrameStack(VecEnvWrapper):
    """Stacks the latest observations along the last axis, the newest last.

    At the start of an episode, missing frames are zeros.

    Args:
        venv: the vector; its observation space is a Box [*shape, C], and becomes
            [*shape, C * n_stack].
        n_stack: the number of frames, at least 1.

    Raises:
        PlanError: for another observation space, or `n_stack` below 1.
    """

    def __init__(self, venv: VecEnv, n_stack: int) -> None:
        refuse_single(venv, type(self))
        space = venv.observation_space
        if not isinstance(space, spaces.Box) or not space.shape:
            raise PlanError(f"VecFrameStack takes a Box with axes, got {space}.")
        if n_stack < 1:
            raise PlanError(f"VecFrameStack stacks at least 1 frame, got n_stack={n_stack}.")
        # As there, whose files hold this space: the bounds a, b of two numbers become a, a, b, b,
        # although the stacked numbers are in the order of frames.
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
        """As in `VecEnv`; `terminal_observation` is stacked, too."""
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
