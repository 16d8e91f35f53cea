"""Registration of environments: Gymnasium's."""

from gymnasium.envs.registration import register, registry, spec

from rlk_baselines.gym.making import make

__all__ = ["make", "register", "registry", "spec"]
