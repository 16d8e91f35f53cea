"""Callbacks, evaluation, policies and utilities for action masks."""

from types import ModuleType

from rlk_baselines.submodules import submodule


def __getattr__(name: str) -> ModuleType:
    return submodule(__name__, name)
