"""SAC: soft actor-critic, and its policies."""

from rlk_sb3.sac.policies import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_sb3.sac.sac import SAC

__all__ = ["SAC", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
