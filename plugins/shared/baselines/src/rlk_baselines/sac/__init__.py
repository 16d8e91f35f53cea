"""SAC and its policies."""

from rlk_baselines.sac.policies import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy
from rlk_baselines.sac.sac import SAC

__all__ = ["SAC", "CnnPolicy", "LnCnnPolicy", "LnMlpPolicy", "MlpPolicy"]
