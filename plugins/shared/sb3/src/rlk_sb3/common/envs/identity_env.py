"""Environments in which the right action equals the observation, with Gymnasium's interface."""

from typing import Any

from rlk_sb3.elsewhere import not_here
from rlk_toy_environments.identity import (
    IdentityEnv,
    IdentityEnvBox,
    IdentityEnvMultiBinary,
    IdentityEnvMultiDiscrete,
)

__all__ = ["IdentityEnv", "IdentityEnvBox", "IdentityEnvMultiBinary", "IdentityEnvMultiDiscrete"]


def __getattr__(name: str) -> Any:
    raise not_here(__name__, name)
