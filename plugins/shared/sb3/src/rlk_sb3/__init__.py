"""The names, signatures and behaviour of Stable-Baselines3, on rlk's plugins.

A program for it runs after you change the first word of its imports:
`from rlk_sb3 import PPO`. Environments have Gymnasium's interface, and vectors of them
that of Stable Baselines 2.10. Nothing is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_baselines.submodules import on_first_use
from rlk_sb3.elsewhere import INSTEAD

if TYPE_CHECKING:
    from rlk_sb3.a2c import A2C as A2C
    from rlk_sb3.common.utils import get_system_info as get_system_info
    from rlk_sb3.ddpg import DDPG as DDPG
    from rlk_sb3.dqn import DQN as DQN
    from rlk_sb3.her import HerReplayBuffer as HerReplayBuffer
    from rlk_sb3.ppo import PPO as PPO
    from rlk_sb3.sac import SAC as SAC
    from rlk_sb3.td3 import TD3 as TD3

__version__ = "2.9.2"

_MODELS = ("A2C", "DDPG", "DQN", "PPO", "SAC", "TD3")

#: The submodule of every name.
_HOMES = {
    **{name: name.lower() for name in _MODELS},
    "HerReplayBuffer": "her",
    "get_system_info": "common.utils",
}

__all__ = [*_HOMES]

__getattr__ = on_first_use(__name__, _HOMES, INSTEAD[""])
