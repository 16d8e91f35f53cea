"""Wrappers for environments."""

from rlk_sb3_contrib.common.wrappers.action_masker import ActionMasker
from rlk_sb3_contrib.common.wrappers.time_feature import TimeFeatureWrapper

__all__ = ["ActionMasker", "TimeFeatureWrapper"]
