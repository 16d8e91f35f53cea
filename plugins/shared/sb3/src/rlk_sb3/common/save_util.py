"""Stable-Baselines3's functions for files, which are not here; errors name models' methods."""

from typing import Any

from rlk_sb3.elsewhere import not_here


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
