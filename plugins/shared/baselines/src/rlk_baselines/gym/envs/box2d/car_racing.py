"""CarRacing, by the module in gym."""

from rlk_baselines.gym.envs.classes import names_of

__getattr__ = names_of("box2d.car_racing")
