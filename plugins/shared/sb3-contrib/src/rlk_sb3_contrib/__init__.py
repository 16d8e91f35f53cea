"""The names of sb3-contrib 2.9, in addition to those of `rlk_sb3`.

A program for it runs after you change the first word of its imports:
`from rlk_sb3_contrib import MaskablePPO`. Nothing is imported until it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlk_baselines.submodules import submodule
from rlk_sb3_contrib.elsewhere import not_here

if TYPE_CHECKING:
    from rlk_sb3_contrib.ppo_mask import MaskablePPO as MaskablePPO
    from rlk_sb3_contrib.ppo_recurrent import RecurrentPPO as RecurrentPPO
    from rlk_sb3_contrib.trpo import TRPO as TRPO

#: The submodule of every name.
_HOMES = {"MaskablePPO": "ppo_mask", "RecurrentPPO": "ppo_recurrent", "TRPO": "trpo"}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    try:
        return submodule(__name__, name)
    except AttributeError:
        raise not_here(__name__, name) from None
