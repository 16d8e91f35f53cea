"""Checks whether agents can be trained in an environment: `check_env`, `rlk env check`."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_env_check.checker import UnfitEnvironment, check_env, examine
    from rlk_env_check.finding import Finding

__all__ = ["Finding", "UnfitEnvironment", "check_env", "examine"]


def __getattr__(name: str) -> Any:
    """Imported on first use, because the command's help needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = "finding" if name == "Finding" else "checker"
    return getattr(importlib.import_module(f"rlk_env_check.{module}"), name)
