"""What all models share, by the module names of sb3-contrib."""

from types import ModuleType

from rlk_baselines.submodules import submodule


def __getattr__(name: str) -> ModuleType:
    return submodule(__name__, name)
