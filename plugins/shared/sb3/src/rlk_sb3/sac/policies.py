"""The policy classes of SAC; custom networks are set by `policy_kwargs`."""

from rlk_baselines.policies import by_name
from rlk_baselines.policies.by_name import CnnPolicy, MultiInputPolicy
from rlk_sb3.elsewhere import refusing
from rlk_sb3.policy_view import StochasticView


class MlpPolicy(by_name.MlpPolicy):
    """A multilayer perceptron. `model.policy` of SAC is always an instance."""

    stands_for = "MlpPolicy"


SACPolicy = MlpPolicy
SACPolicy.register(StochasticView)

__all__ = ["CnnPolicy", "MlpPolicy", "MultiInputPolicy", "SACPolicy"]

__getattr__ = refusing(__name__)
