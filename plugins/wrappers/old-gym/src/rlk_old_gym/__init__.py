"""`old-gym`: environments written for gym 0.25 or before, with Gymnasium's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_old_gym.five_values import FiveValues as FiveValues
else:
    # On first use, because it needs gymnasium and listing components does not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "FiveValues": "five_values",
        },
    )
