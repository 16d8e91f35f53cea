"""Submodules that a program uses without importing them: `rlk_sb3.common.vec_env.DummyVecEnv`."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType


def submodule(package: str, name: str) -> ModuleType:
    """Import a submodule of a package.

    Args:
        package: the `__name__` of the package.
        name: the name of the submodule.

    Raises:
        AttributeError: if the package has no such submodule.
    """
    if importlib.util.find_spec(f"{package}.{name}") is None:
        raise AttributeError(f"module {package!r} has no attribute {name!r}")
    return importlib.import_module(f"{package}.{name}")
