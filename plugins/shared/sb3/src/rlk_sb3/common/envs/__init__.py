"""Environments for tests, with Gymnasium's interface."""

from rlk_sb3.common.envs.bit_flipping_env import BitFlippingEnv
from rlk_sb3.common.envs.identity_env import (
    IdentityEnv,
    IdentityEnvBox,
    IdentityEnvMultiBinary,
    IdentityEnvMultiDiscrete,
)
from rlk_sb3.common.envs.multi_input_envs import SimpleMultiObsEnv
from rlk_sb3.elsewhere import refusing

__all__ = [
    "BitFlippingEnv",
    "IdentityEnv",
    "IdentityEnvBox",
    "IdentityEnvMultiBinary",
    "IdentityEnvMultiDiscrete",
    "SimpleMultiObsEnv",
]

__getattr__ = refusing(__name__)
