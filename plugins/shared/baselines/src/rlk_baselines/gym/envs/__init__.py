"""Registration of environments, and environment classes, which are also in the modules of gym."""

from rlk_baselines.gym.envs import registration
from rlk_baselines.gym.envs.classes import mirrored
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

box2d, classic_control = mirrored("box2d"), mirrored("classic_control")
mujoco, toy_text = mirrored("mujoco"), mirrored("toy_text")
