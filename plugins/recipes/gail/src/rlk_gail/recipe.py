"""The meaning of `gail` and `airl`; planning calls it, so it imports nothing heavy."""

from __future__ import annotations

from typing import Any

from rlk_gail.config import AIRLRecipeConfig, GAILRecipeConfig


def gail(config: GAILRecipeConfig) -> dict[str, Any]:
    """The model with GAIL's reward, as keys of a SPEC.toml; settings of both are passed on."""
    return {"algo": config.model, "plugins": ["gail-reward"]}


def airl(config: AIRLRecipeConfig) -> dict[str, Any]:
    """The same with AIRL's reward."""
    return {"algo": config.model, "plugins": ["airl-reward"]}
