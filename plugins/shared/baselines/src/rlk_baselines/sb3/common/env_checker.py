"""Whether an environment does what the models expect of it."""

from rlk_baselines.common.env_checker import check_env

__all__ = [
    "check_env",
]
