"""Action masks for rlk; `ActionMasks` puts an environment's masks beside its observations."""

from rlk_action_masking.vector import VectorActionMasks
from rlk_action_masking.wrapper import ActionMasks

__all__ = ["ActionMasks", "VectorActionMasks"]
