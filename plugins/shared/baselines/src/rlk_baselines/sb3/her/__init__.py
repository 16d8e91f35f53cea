"""Learning by hindsight: a replay, and which goals it takes."""

from rlk_baselines.sb3.her.goal_selection_strategy import GoalSelectionStrategy
from rlk_baselines.sb3.her.her_replay_buffer import HerReplayBuffer

__all__ = ["GoalSelectionStrategy", "HerReplayBuffer"]
