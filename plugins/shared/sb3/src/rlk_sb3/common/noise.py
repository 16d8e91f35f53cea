"""Noise on actions."""

from typing import Any

from rlk_baselines.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise
from rlk_sb3.elsewhere import not_here

__all__ = ["ActionNoise", "NormalActionNoise", "OrnsteinUhlenbeckActionNoise"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
