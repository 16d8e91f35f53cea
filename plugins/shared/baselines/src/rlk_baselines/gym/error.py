"""Gymnasium's errors, under gym's module name."""

from gymnasium.error import *  # noqa: F403
