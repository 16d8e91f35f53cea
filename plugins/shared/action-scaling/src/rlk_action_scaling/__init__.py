"""Actions from -1 to 1, scaled to a Box."""

from rlk_action_scaling.scaling import middle_and_half, scaled

__all__ = ["middle_and_half", "scaled"]
