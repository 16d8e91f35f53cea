"""What all models share, by the module names of sb3-contrib."""

from rlk_baselines.submodules import on_first_use

__getattr__ = on_first_use(__name__)
