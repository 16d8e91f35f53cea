"""Registration of environments, and environment classes."""

from rlk_baselines.gym.envs import box2d, classic_control, mujoco, registration, toy_text
from rlk_baselines.gym.envs.registration import make, register, registry, spec

__all__ = [
    "box2d",
    "classic_control",
    "make",
    "mujoco",
    "register",
    "registration",
    "registry",
    "spec",
    "toy_text",
]
