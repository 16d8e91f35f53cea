"""DDPG, its policies, and noise."""

from rlk_baselines.common.noise import (
    AdaptiveParamNoiseSpec,
    NormalActionNoise,
    OrnsteinUhlenbeckActionNoise,
)
from rlk_baselines.ddpg.ddpg import DDPG
from rlk_baselines.ddpg.policies import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy

__all__ = [
    "DDPG",
    "AdaptiveParamNoiseSpec",
    "CnnPolicy",
    "LnCnnPolicy",
    "LnMlpPolicy",
    "MlpPolicy",
    "NormalActionNoise",
    "OrnsteinUhlenbeckActionNoise",
]
