"""Actions from -1 to 1, scaled to a Box, and settings with a value for each dimension."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlk_action_scaling.box_units import BoxUnits as BoxUnits
    from rlk_action_scaling.number_or_each import as_numbers as as_numbers
    from rlk_action_scaling.number_or_each import as_setting as as_setting
    from rlk_action_scaling.number_or_each import common_size as common_size
    from rlk_action_scaling.number_or_each import per_dimension as per_dimension
    from rlk_action_scaling.scaling import divisor as divisor
    from rlk_action_scaling.scaling import middle_and_half as middle_and_half
    from rlk_action_scaling.scaling import scaled as scaled
    from rlk_action_scaling.scaling import unscaled as unscaled

_HOMES = {
    "BoxUnits": "box_units",
    **dict.fromkeys(("as_numbers", "as_setting", "common_size", "per_dimension"), "number_or_each"),
    **dict.fromkeys(("divisor", "middle_and_half", "scaled", "unscaled"), "scaling"),
}

__all__ = [
    "BoxUnits",
    "as_numbers",
    "as_setting",
    "common_size",
    "divisor",
    "middle_and_half",
    "per_dimension",
    "scaled",
    "unscaled",
]


def __getattr__(name: str) -> Any:
    """Imported on first use, because it needs numpy or torch; settings (`validators.py`) do not."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
