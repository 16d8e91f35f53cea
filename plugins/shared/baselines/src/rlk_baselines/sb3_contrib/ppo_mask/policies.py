"""The policy classes of MaskablePPO, which are those of PPO: the model applies the masks."""

from rlk_baselines.policies.by_name import CnnPolicy, MlpPolicy, MultiInputPolicy

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
