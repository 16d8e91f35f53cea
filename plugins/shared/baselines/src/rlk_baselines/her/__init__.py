"""`HER`, goal selection strategies, and wrappers for goal environments and replay buffers."""

from rlk_baselines.her.goal_env_wrapper import HERGoalEnvWrapper
from rlk_baselines.her.her import HER
from rlk_baselines.her.replay_wrapper import (
    KEY_TO_GOAL_STRATEGY,
    HindsightExperienceReplayWrapper,
)
from rlk_her import GoalSelectionStrategy

__all__ = [
    "HER",
    "KEY_TO_GOAL_STRATEGY",
    "GoalSelectionStrategy",
    "HERGoalEnvWrapper",
    "HindsightExperienceReplayWrapper",
]
