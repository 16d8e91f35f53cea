"""Atari games: their ids, and DeepMind's preprocessing (`atari`, `make_atari`, `wrap_deepmind`)."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_atari.deepmind import AtariGame
    from rlk_atari.stable_baselines import make_atari, wrap_deepmind

__all__ = ["AtariGame", "make_atari", "wrap_deepmind"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rlk_atari' has no attribute {name!r}")
    module = "deepmind" if name == "AtariGame" else "stable_baselines"
    return getattr(importlib.import_module(f"rlk_atari.{module}"), name)
