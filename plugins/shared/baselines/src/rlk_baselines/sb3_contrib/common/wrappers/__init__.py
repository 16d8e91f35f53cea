"""Wrappers for environments."""

from rlk_baselines.sb3_contrib.common.wrappers.action_masker import ActionMasker

__all__ = ["ActionMasker"]
