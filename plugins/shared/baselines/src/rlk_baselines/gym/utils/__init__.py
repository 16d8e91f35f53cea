"""What environments of gym use besides its classes."""

from gymnasium.utils import EzPickle

from rlk_baselines.gym.utils import seeding

__all__ = ["EzPickle", "seeding"]
