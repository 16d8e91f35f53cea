"""HER as a name: `--algo her --set model=sac`; `rlk_baselines.HER` is Stable Baselines' class."""

from rlk_her.config import HERConfig
from rlk_her.goal_selection import GoalSelectionStrategy

__all__ = ["GoalSelectionStrategy", "HERConfig"]
