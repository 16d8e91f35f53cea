"""`HERGoalEnvWrapper`, by its module in Stable Baselines."""

from rlk_baselines.her.goal_env_wrapper import HERGoalEnvWrapper

__all__ = ["HERGoalEnvWrapper"]
