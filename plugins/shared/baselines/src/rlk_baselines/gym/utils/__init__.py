"""Utilities that environments written for gym import."""

from gymnasium.utils import EzPickle, colorize

from rlk_baselines.gym.utils import seeding

__all__ = ["EzPickle", "colorize", "seeding"]
