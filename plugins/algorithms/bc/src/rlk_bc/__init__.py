"""Behaviour cloning for rlk: the algorithm `bc`, and `pretrain` for any agent with a policy."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlk_bc.config import BCConfig as BCConfig

if TYPE_CHECKING:
    from rlk_bc.cloning import pretrain as pretrain

__all__ = ["BCConfig", "pretrain"]


def __getattr__(name: str) -> Any:
    """Import `pretrain` when it is first used: it needs torch, and components do not."""
    if name != "pretrain":
        raise AttributeError(f"module 'rlk_bc' has no attribute {name!r}")
    return importlib.import_module("rlk_bc.cloning").pretrain
