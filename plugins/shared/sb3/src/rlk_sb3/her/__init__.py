"""Hindsight experience replay: `HerReplayBuffer`, and goal selection strategies."""

from rlk_sb3.her.goal_selection_strategy import GoalSelectionStrategy
from rlk_sb3.her.her_replay_buffer import HerReplayBuffer

__all__ = ["GoalSelectionStrategy", "HerReplayBuffer"]
