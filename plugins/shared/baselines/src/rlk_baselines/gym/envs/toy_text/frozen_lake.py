"""FrozenLake, by the module in gym."""

from rlk_baselines.gym.envs.classes import names_of

__getattr__ = names_of("toy_text.frozen_lake")
