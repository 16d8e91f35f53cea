"""`VecFrameStack`: stacks the latest frames of every environment into one observation."""

from __future__ import annotations

from typing import Any

from gymnasium import spaces

from rlk.errors import PlanError
from rlk.records import Array
from rlk_baselines.common.vec_env.base_vec_env import (
    Stepped,
    VecEnv,
    VecEnvWrapper,
    refuse_single,
)
from rlk_baselines.common.vec_env.stacked_observations import Order, StackedObservations


class StackedVecEnv(VecEnvWrapper):
    """A vector with stacked frames: what both libraries' `VecFrameStack` do.

    Args:
        venv: the vector.
        n_stack: the number of frames, at least 1.
        channels_order: the axis: see `StackedObservations`.

    Raises:
        PlanError: as `StackedObservations`.
    """

    def __init__(self, venv: VecEnv, n_stack: int, channels_order: Order) -> None:
        space = venv.observation_space
        self.stacked_obs = StackedObservations(venv.num_envs, n_stack, space, channels_order)
        super().__init__(venv, observation_space=self.stacked_obs.stacked_observation_space)

    def reset(self) -> Any:
        return self.stacked_obs.reset(self.venv.reset())

    def step_wait(self) -> Stepped:
        """As in `VecEnv`; `terminal_observation` is stacked, too."""
        observations, rewards, dones, infos = self.venv.step_wait()
        observations, infos = self.stacked_obs.update(observations, dones, infos)
        return observations, rewards, dones, infos


class VecFrameStack(StackedVecEnv):
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
        super().__init__(venv, n_stack, "last")
        self.n_stack = n_stack

    @property
    def stackedobs(self) -> Array:
        """The latest frames of every environment, [N, *shape, C * n_stack]."""
        return self.stacked_obs.stacked_obs
