"""Stable-Baselines3's distributions, which are not here; errors name rlk's: see `elsewhere`."""

from rlk_sb3.elsewhere import refusing

__getattr__ = refusing(__name__)
