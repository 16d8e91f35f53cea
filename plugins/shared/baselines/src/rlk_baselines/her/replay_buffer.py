"""The hindsight replay of `rlk_baselines.her`, by its module in Stable Baselines."""

from rlk_baselines.her.replay_wrapper import (
    KEY_TO_GOAL_STRATEGY,
    HindsightExperienceReplayWrapper,
)
from rlk_her import GoalSelectionStrategy

__all__ = ["KEY_TO_GOAL_STRATEGY", "GoalSelectionStrategy", "HindsightExperienceReplayWrapper"]
