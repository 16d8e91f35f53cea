"""DQN: deep Q-network, and its policies."""

from rlk_sb3.dqn.dqn import DQN
from rlk_sb3.dqn.policies import CnnPolicy, MlpPolicy, MultiInputPolicy

__all__ = ["DQN", "CnnPolicy", "MlpPolicy", "MultiInputPolicy"]
