"""Actions from -1 to 1, scaled to a Box."""

from rlk_action_scaling.scaling import scaled

__all__ = ["scaled"]
