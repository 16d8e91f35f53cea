"""The policies of MaskablePPO, by the names that they have there."""

from rlk_baselines.sb3_contrib.ppo_mask.policies import (
    CnnPolicy,
    MlpPolicy,
    MultiInputPolicy,
)

MaskableActorCriticPolicy = MlpPolicy
MaskableActorCriticCnnPolicy = CnnPolicy
MaskableMultiInputActorCriticPolicy = MultiInputPolicy

__all__ = [
    "MaskableActorCriticCnnPolicy",
    "MaskableActorCriticPolicy",
    "MaskableMultiInputActorCriticPolicy",
]
