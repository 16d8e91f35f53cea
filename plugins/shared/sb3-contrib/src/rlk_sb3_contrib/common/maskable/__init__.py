"""Callbacks, evaluation, policies and utilities for action masks."""

from rlk_baselines.submodules import on_first_use

__getattr__ = on_first_use(__name__)
