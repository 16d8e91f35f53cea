"""The components `gail-reward` and `airl-reward`."""

from __future__ import annotations

from rlk.component import Component
from rlk_adversarial_reward.config import AIRLConfig, GAILConfig

#: Spaces of observations that a discriminator can take as numbers.
OBSERVATIONS = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")

gail_reward = Component(
    name="gail-reward",
    factory="rlk_adversarial_reward.extension:GAILReward",
    summary="on-policy: rewards what a discriminator takes for the expert's (GAIL)",
    config=GAILConfig,
    observation_spaces=OBSERVATIONS,
    collects="on-policy",
    only_trains=True,
)
airl_reward = Component(
    name="airl-reward",
    factory="rlk_adversarial_reward.extension:AIRLReward",
    summary="on-policy: learns a reward that explains the expert's behaviour (AIRL)",
    config=AIRLConfig,
    observation_spaces=OBSERVATIONS,
    collects="on-policy",
    only_trains=True,
)
