"""TD3, its policies and noise for its actions."""

from rlk_baselines.common.noise import NormalActionNoise, OrnsteinUhlenbeckActionNoise
from rlk_baselines.td3.policies import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy
from rlk_baselines.td3.td3 import TD3

__all__ = [
    "TD3",
    "CnnPolicy",
    "LnCnnPolicy",
    "LnMlpPolicy",
    "MlpPolicy",
    "NormalActionNoise",
    "OrnsteinUhlenbeckActionNoise",
]
