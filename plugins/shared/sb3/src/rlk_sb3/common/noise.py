"""Noise on actions."""

from rlk_baselines.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise
from rlk_sb3.elsewhere import refusing

__all__ = ["ActionNoise", "NormalActionNoise", "OrnsteinUhlenbeckActionNoise"]

__getattr__ = refusing(__name__)
