"""Environments in which the right action equals the observation, with Gymnasium's interface."""

from rlk_sb3.elsewhere import refusing
from rlk_toy_environments.identity import (
    IdentityEnv,
    IdentityEnvBox,
    IdentityEnvMultiBinary,
    IdentityEnvMultiDiscrete,
)

__all__ = ["IdentityEnv", "IdentityEnvBox", "IdentityEnvMultiBinary", "IdentityEnvMultiDiscrete"]

__getattr__ = refusing(__name__)
