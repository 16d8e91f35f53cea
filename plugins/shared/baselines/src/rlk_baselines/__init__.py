"""The names, signatures and behaviour of Stable Baselines 2.10, on rlk's plugins.

A program for Stable Baselines runs after you change the first word of its imports:
`from rlk_baselines import PPO2`. Nothing is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_baselines.submodules import on_first_use

if TYPE_CHECKING:
    from rlk_baselines.a2c import A2C as A2C
    from rlk_baselines.acer import ACER as ACER
    from rlk_baselines.acktr import ACKTR as ACKTR
    from rlk_baselines.ddpg import DDPG as DDPG
    from rlk_baselines.deepq import DQN as DQN
    from rlk_baselines.gail import GAIL as GAIL
    from rlk_baselines.her import HER as HER
    from rlk_baselines.ppo1 import PPO1 as PPO1
    from rlk_baselines.ppo2 import PPO2 as PPO2
    from rlk_baselines.sac import SAC as SAC
    from rlk_baselines.td3 import TD3 as TD3
    from rlk_baselines.trpo_mpi import TRPO as TRPO

__version__ = "2.10.2"

#: The submodule of every model.
_HOMES = {
    "A2C": "a2c",
    "ACER": "acer",
    "ACKTR": "acktr",
    "DDPG": "ddpg",
    "DQN": "deepq",
    "GAIL": "gail",
    "HER": "her",
    "PPO1": "ppo1",
    "PPO2": "ppo2",
    "SAC": "sac",
    "TD3": "td3",
    "TRPO": "trpo_mpi",
}

__all__ = [*_HOMES]

__getattr__ = on_first_use(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
