"""The strategies that select hindsight goals, by name."""

from rlk_baselines.her.replay_wrapper import KEY_TO_GOAL_STRATEGY
from rlk_her import GoalSelectionStrategy

__all__ = ["KEY_TO_GOAL_STRATEGY", "GoalSelectionStrategy"]
