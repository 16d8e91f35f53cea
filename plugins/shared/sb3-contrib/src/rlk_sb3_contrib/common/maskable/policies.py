"""The policies of MaskablePPO by the names of sb3-contrib."""

from rlk_sb3_contrib.ppo_mask.policies import (
    MaskableActorCriticCnnPolicy,
    MaskableActorCriticPolicy,
    MaskableMultiInputActorCriticPolicy,
)

__all__ = [
    "MaskableActorCriticCnnPolicy",
    "MaskableActorCriticPolicy",
    "MaskableMultiInputActorCriticPolicy",
]
