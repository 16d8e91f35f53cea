"""`check_env`: checks that an environment follows the interface and suits the models."""

from rlk_baselines.common.env_checker import check_env

__all__ = [
    "check_env",
]
