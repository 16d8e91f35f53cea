"""Environments for tests, with Gymnasium's interface."""

from typing import Any

from rlk_sb3.common.envs.bit_flipping_env import BitFlippingEnv
from rlk_sb3.common.envs.identity_env import (
    IdentityEnv,
    IdentityEnvBox,
    IdentityEnvMultiBinary,
    IdentityEnvMultiDiscrete,
)
from rlk_sb3.common.envs.multi_input_envs import SimpleMultiObsEnv
from rlk_sb3.elsewhere import not_here

__all__ = [
    "BitFlippingEnv",
    "IdentityEnv",
    "IdentityEnvBox",
    "IdentityEnvMultiBinary",
    "IdentityEnvMultiDiscrete",
    "SimpleMultiObsEnv",
]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
