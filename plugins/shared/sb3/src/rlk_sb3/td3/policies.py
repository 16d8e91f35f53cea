"""The policy classes of TD3; custom networks are set by `policy_kwargs`."""

from rlk_baselines.policies import by_name
from rlk_baselines.policies.by_name import CnnPolicy, MultiInputPolicy
from rlk_sb3.elsewhere import refusing
from rlk_sb3.policy_view import DeterministicView


class MlpPolicy(by_name.MlpPolicy):
    """A multilayer perceptron. `model.policy` of TD3 and DDPG is always an instance."""

    stands_for = "MlpPolicy"


TD3Policy = MlpPolicy
TD3Policy.register(DeterministicView)

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "TD3Policy"]

__getattr__ = refusing(__name__)
