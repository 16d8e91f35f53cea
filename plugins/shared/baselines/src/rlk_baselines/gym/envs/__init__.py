"""Registration of environments."""

from rlk_baselines.gym.envs import registration
from rlk_baselines.gym.envs.registration import make, register, registry, spec

__all__ = ["make", "register", "registration", "registry", "spec"]
