"""Stable-Baselines3's functions for Dict observations, which are not here; see `elsewhere`."""

from typing import Any

from rlk_baselines.sb3.elsewhere import not_here


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
