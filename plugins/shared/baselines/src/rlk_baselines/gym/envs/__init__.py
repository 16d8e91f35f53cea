"""Registration of environments."""

from rlk_baselines.gym.envs import registration

__all__ = ["registration"]
