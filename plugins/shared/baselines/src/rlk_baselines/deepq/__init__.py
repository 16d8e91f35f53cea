"""DQN and its policies."""

from rlk_baselines.deepq.dqn import DQN
from rlk_baselines.deepq.policies import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy

__all__ = ["DQN", "CnnPolicy", "LnCnnPolicy", "LnMlpPolicy", "MlpPolicy"]
