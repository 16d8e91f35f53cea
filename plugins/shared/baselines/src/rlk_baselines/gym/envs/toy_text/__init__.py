"""Toy text: the environment classes of Gymnasium, with gym's interface."""

from rlk_baselines.gym.envs.classes import classes_of

__getattr__ = classes_of("toy_text")
