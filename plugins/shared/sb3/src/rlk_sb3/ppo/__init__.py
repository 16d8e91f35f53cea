"""PPO: proximal policy optimisation, and its policies."""

from rlk_sb3.ppo.policies import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_sb3.ppo.ppo import PPO

__all__ = ["PPO", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
