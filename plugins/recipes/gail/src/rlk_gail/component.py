"""The components `gail` and `airl`."""

from __future__ import annotations

from rlk import settings
from rlk.component import Component
from rlk_adversarial_reward.config import AIRLConfig, GAILConfig
from rlk_gail.config import AIRLRecipeConfig, GAILRecipeConfig

gail = Component(
    name="gail",
    factory="rlk_gail.recipe:gail",
    summary="generative adversarial imitation learning with TRPO, or --set model=ppo2",
    config=GAILRecipeConfig,
    forwards={name: f"gail-reward.{name}" for name in settings.names(GAILConfig)},
)
airl = Component(
    name="airl",
    factory="rlk_gail.recipe:airl",
    summary="adversarial inverse reinforcement learning with TRPO, or --set model=ppo2",
    config=AIRLRecipeConfig,
    forwards={name: f"airl-reward.{name}" for name in settings.names(AIRLConfig)},
)
