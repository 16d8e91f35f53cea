"""DQN for rlk: `DQNConfig` has its hyperparameters."""

from rlk_dqn.config import DQNConfig

__all__ = ["DQNConfig"]
