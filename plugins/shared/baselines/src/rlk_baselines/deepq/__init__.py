"""DQN, its policies, replay buffers, and DQN's wrappers of Atari games."""

from typing import Any

from rlk_baselines.common.buffers import PrioritizedReplayBuffer, ReplayBuffer
from rlk_baselines.deepq.dqn import DQN
from rlk_baselines.deepq.policies import CnnPolicy, LnCnnPolicy, LnMlpPolicy, MlpPolicy

__all__ = [
    "DQN",
    "CnnPolicy",
    "LnCnnPolicy",
    "LnMlpPolicy",
    "MlpPolicy",
    "PrioritizedReplayBuffer",
    "ReplayBuffer",
    "wrap_atari_dqn",
]


def wrap_atari_dqn(env: Any) -> Any:
    """An Atari game with DeepMind's preprocessing and four stacked frames."""
    from rlk_baselines.common.atari_wrappers import wrap_deepmind

    return wrap_deepmind(env, frame_stack=True)
