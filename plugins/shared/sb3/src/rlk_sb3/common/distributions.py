"""Stable-Baselines3's distributions, which are not here; errors name rlk's: see `elsewhere`."""

from typing import Any

from rlk_sb3.elsewhere import not_here


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
