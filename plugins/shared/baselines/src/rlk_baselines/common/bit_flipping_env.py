"""`BitFlippingEnv`: bits to flip, with goals and gym's interface."""

from __future__ import annotations

from typing import Any

from rlk_baselines.gym.making import FourValuesEnv
from rlk_toy_environments import bit_flipping


class BitFlippingEnv(FourValuesEnv):
    """Bits to be flipped until all are 1, one at a time; the reward is -1 until then.

    Args:
        n_bits: how many bits.
        continuous: a Box of actions, of which those above 0 flip their bit.
        max_steps: of an episode; None is `n_bits`.
        discrete_obs_space: patterns as one number.
        image_obs_space: patterns as a picture.
    """

    def __init__(
        self,
        n_bits: int = 10,
        continuous: bool = False,
        max_steps: int | None = None,
        discrete_obs_space: bool = False,
        image_obs_space: bool = False,
    ) -> None:
        super().__init__(
            bit_flipping.BitFlippingEnv(
                n_bits, continuous, max_steps, discrete_obs_space, image_obs_space
            )
        )

    def compute_reward(self, achieved_goal: Any, desired_goal: Any, info: Any) -> Any:
        """0 where the patterns are equal, else -1."""
        return super().compute_reward(achieved_goal, desired_goal, info)
