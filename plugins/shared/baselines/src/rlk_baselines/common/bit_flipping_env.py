"""`BitFlippingEnv`: a goal environment of bits to flip, with gym's interface."""

from __future__ import annotations

from rlk_baselines.gym.making import GymView
from rlk_toy_environments import bit_flipping


class BitFlippingEnv(GymView):
    """Bits to be flipped until all are 1; the reward is -1 until then, and 0 at the end.

    Args:
        n_bits: the number of bits.
        continuous: whether actions are a Box [n_bits]; each number above 0 flips its bit.
        max_steps: the largest number of steps per episode; None means `n_bits`.
        discrete_obs_space: whether a bit pattern is observed as one number.
        image_obs_space: whether a bit pattern is observed as an image.
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
