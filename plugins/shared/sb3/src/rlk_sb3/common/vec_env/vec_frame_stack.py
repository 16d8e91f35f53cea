"""`VecFrameStack`: stacks the latest frames of every environment into one observation."""

from __future__ import annotations

from rlk_baselines.common.vec_env.base_vec_env import VecEnv, refuse_single
from rlk_baselines.common.vec_env.stacked_observations import Order
from rlk_baselines.common.vec_env.vec_frame_stack import StackedVecEnv


class VecFrameStack(StackedVecEnv):
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
        super().__init__(venv, n_stack, channels_order)
