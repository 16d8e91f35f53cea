"""Action masks for rlk; `ActionMasks` adds an environment's masks to its observations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_action_masking.vector import VectorActionMasks as VectorActionMasks
    from rlk_action_masking.wrapper import ActionMasks as ActionMasks
else:
    # On first use, because planning imports no gymnasium.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "ActionMasks": "wrapper",
            "VectorActionMasks": "vector",
        },
    )
