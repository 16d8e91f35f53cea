"""Actions from -1 to 1, scaled to a Box."""

from rlk_action_scaling.per_dimension import as_numbers, as_setting, per_dimension
from rlk_action_scaling.scaling import middle_and_half, scaled

__all__ = ["as_numbers", "as_setting", "middle_and_half", "per_dimension", "scaled"]
