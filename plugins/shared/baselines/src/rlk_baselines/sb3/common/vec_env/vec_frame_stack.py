"""`VecFrameStack`: stacks the latest frames of every environment into one observation."""

from __future__ import annotations

from typing import Any

from rlk_baselines.common.vec_env.base_vec_env import (
    Stepped,
    VecEnv,
    VecEnvWrapper,
    refuse_single,
)
from rlk_baselines.sb3.common.vec_env.stacked_observations import Order, StackedObservations


class VecFrameStack(VecEnvWrapper):
    """Stacks the latest frames along the axis of their channels, the newest last.

    Args:
        venv: the vector.
        n_stack: the number of frames, at least 1.
        channels_order: the axis: see `StackedObservations`.

    Raises:
        PlanError: if the observation space is neither a Box nor a Dict of them, or another
            argument is invalid.
    """

    def __init__(self, venv: VecEnv, n_stack: int, channels_order: Order = None) -> None:
        refuse_single(venv, type(self))
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
