"""The policy classes of MaskablePPO, which are those of PPO: the model applies the masks."""

from rlk_baselines.policies import by_name
from rlk_baselines.policies.by_name import CnnPolicy, MultiInputPolicy


class MlpPolicy(by_name.MlpPolicy):
    """A multilayer perceptron. `model.policy` is always an instance."""

    stands_for = "MlpPolicy"


MaskableActorCriticPolicy = MlpPolicy
MaskableActorCriticCnnPolicy = CnnPolicy
MaskableMultiInputActorCriticPolicy = MultiInputPolicy

__all__ = [
    "CnnPolicy",
    "MaskableActorCriticCnnPolicy",
    "MaskableActorCriticPolicy",
    "MaskableMultiInputActorCriticPolicy",
    "MlpPolicy",
    "MultiInputPolicy",
]
