"""The names of sb3-contrib 2.9, in addition to those of `rlk_baselines.sb3`.

A program for it runs after you change the first word of its imports:
`from rlk_baselines.sb3_contrib import MaskablePPO`. Nothing is imported until it is used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from rlk_baselines.submodules import submodule

if TYPE_CHECKING:
    from rlk_baselines.sb3_contrib.ppo_mask import MaskablePPO as MaskablePPO
    from rlk_baselines.sb3_contrib.ppo_recurrent import RecurrentPPO as RecurrentPPO
    from rlk_baselines.sb3_contrib.trpo import TRPO as TRPO

#: The submodule of every name.
_HOMES = {"MaskablePPO": "ppo_mask", "RecurrentPPO": "ppo_recurrent", "TRPO": "trpo"}
#: Names that are not here, and what to use instead.
INSTEAD = {
    **dict.fromkeys(("ARS", "CrossQ"), "an algorithm of rlk: rlk plugins list --kind algorithms"),
    "QRDQN": "DQN of rlk_baselines.sb3, or of rlk_baselines, which is double and dueling",
    "TQC": "SAC or TD3 of rlk_baselines.sb3",
}

__all__ = [*_HOMES]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    if name in INSTEAD:
        raise ImportError(f"{__name__} has no {name}. Write {INSTEAD[name]}.")
    return submodule(__name__, name)
