"""`old-gym`: environments written for gym 0.25 or before, with Gymnasium's interface."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_old_gym.five_values import FiveValues as FiveValues

__all__ = ["FiveValues"]


def __getattr__(name: str) -> Any:
    """Imported on first use, because it needs gymnasium and listing components does not."""
    if name != "FiveValues":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rlk_old_gym.five_values import FiveValues

    return FiveValues
