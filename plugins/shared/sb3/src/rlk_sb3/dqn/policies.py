"""The policy classes of DQN; custom networks are set by `policy_kwargs`."""

from rlk_baselines.policies import by_name
from rlk_baselines.policies.by_name import CnnPolicy, MultiInputPolicy
from rlk_sb3.elsewhere import refusing
from rlk_sb3.policy_view import QView


class MlpPolicy(by_name.MlpPolicy):
    """A multilayer perceptron. `model.policy` of DQN is always an instance."""

    stands_for = "MlpPolicy"


DQNPolicy = MlpPolicy
DQNPolicy.register(QView)

__all__ = ["CnnPolicy", "DQNPolicy", "MlpPolicy", "MultiInputPolicy"]

__getattr__ = refusing(__name__)
