"""Policies by name, and the base class of custom ones (docs/custom-policies.md)."""

from rlk_baselines.policies import classes
from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy
from rlk_sb3.elsewhere import refusing
from rlk_sb3.policy_view import ActorCriticView
from rlk_sb3.policy_view import PolicyView as BasePolicy


class ActorCriticPolicy(classes.ActorCriticPolicy):
    """As `MlpPolicy`; derived classes have an `encoder` and a `trunk` (docs/custom-policies.md).

    `model.policy` of A2C, PPO, TRPO and their relatives is always an instance.
    """

    stands_for = "MlpPolicy"


ActorCriticPolicy.register(ActorCriticView)

ActorCriticCnnPolicy = CnnPolicy
MultiInputActorCriticPolicy = MultiInputPolicy

__all__ = [
    "ActorCriticCnnPolicy",
    "ActorCriticPolicy",
    "BasePolicy",
    "CnnPolicy",
    "MlpPolicy",
    "MultiInputActorCriticPolicy",
    "MultiInputPolicy",
]

__getattr__ = refusing(__name__)
