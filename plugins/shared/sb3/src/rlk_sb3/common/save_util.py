"""Stable-Baselines3's functions for files, which are not here; errors name models' methods."""

from rlk_sb3.elsewhere import refusing

__getattr__ = refusing(__name__)
