"""Settings of GAIL and AIRL, with the names and defaults of Stable Baselines 2.10."""

from __future__ import annotations

import attrs

from rlk.settings import documented, setting
from rlk_adversarial_reward.config import AIRLConfig, GAILConfig

_MODEL = setting("the on-policy algorithm that learns: trpo, ppo2, a2c, …")


@documented
@attrs.frozen(kw_only=True)
class GAILRecipeConfig(GAILConfig):
    """The settings of the learnt reward, and the algorithm that learns from it."""

    model: str = attrs.field(default="trpo", **_MODEL)


@documented
@attrs.frozen(kw_only=True)
class AIRLRecipeConfig(AIRLConfig):
    """The same for AIRL."""

    model: str = attrs.field(default="trpo", **_MODEL)
