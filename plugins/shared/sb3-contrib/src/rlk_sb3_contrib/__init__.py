"""The names of sb3-contrib 2.9, in addition to those of `rlk_sb3`.

A program for it runs after you change the first word of its imports:
`from rlk_sb3_contrib import MaskablePPO`. Nothing is imported until it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk_baselines.submodules import on_first_use
from rlk_sb3_contrib.elsewhere import INSTEAD

if TYPE_CHECKING:
    from rlk_sb3_contrib.ppo_mask import MaskablePPO as MaskablePPO
    from rlk_sb3_contrib.ppo_recurrent import RecurrentPPO as RecurrentPPO
    from rlk_sb3_contrib.trpo import TRPO as TRPO

#: The submodule of every name.
_HOMES = {"MaskablePPO": "ppo_mask", "RecurrentPPO": "ppo_recurrent", "TRPO": "trpo"}

__all__ = [*_HOMES]

__getattr__ = on_first_use(__name__, _HOMES, INSTEAD[""])
