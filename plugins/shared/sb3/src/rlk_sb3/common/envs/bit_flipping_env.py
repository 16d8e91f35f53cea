"""`BitFlippingEnv`: a goal environment with Gymnasium's interface."""

from rlk_toy_environments.bit_flipping import BitFlippingEnv

__all__ = ["BitFlippingEnv"]
