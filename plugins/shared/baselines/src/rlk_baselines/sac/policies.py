"""The policies of SAC, which are those of all off-policy models."""

from rlk_baselines.policies.classes import BasePolicy
from rlk_baselines.policies.off_policy import *  # noqa: F403

SACPolicy = BasePolicy
