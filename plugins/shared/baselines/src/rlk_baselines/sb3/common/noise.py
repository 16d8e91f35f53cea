"""Noise on actions."""

from rlk_baselines.common.noise import ActionNoise, NormalActionNoise, OrnsteinUhlenbeckActionNoise

__all__ = ["ActionNoise", "NormalActionNoise", "OrnsteinUhlenbeckActionNoise"]
