"""Actions from -1 to 1, scaled to a Box, and settings with a value for each dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rlk.lazy_names import lazy_names

if TYPE_CHECKING:
    from rlk_action_scaling.box_units import BoxUnits as BoxUnits
    from rlk_action_scaling.number_or_each import as_numbers as as_numbers
    from rlk_action_scaling.number_or_each import as_setting as as_setting
    from rlk_action_scaling.number_or_each import common_size as common_size
    from rlk_action_scaling.number_or_each import hold_read_only as hold_read_only
    from rlk_action_scaling.number_or_each import per_dimension as per_dimension
    from rlk_action_scaling.scaling import divisor as divisor
    from rlk_action_scaling.scaling import middle_and_half as middle_and_half
    from rlk_action_scaling.scaling import scaled as scaled
    from rlk_action_scaling.scaling import unscaled as unscaled
else:
    # On first use, because it needs numpy or torch; settings (`validators.py`) do not.
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "BoxUnits": "box_units",
            "as_numbers": "number_or_each",
            "as_setting": "number_or_each",
            "common_size": "number_or_each",
            "divisor": "scaling",
            "hold_read_only": "number_or_each",
            "middle_and_half": "scaling",
            "per_dimension": "number_or_each",
            "scaled": "scaling",
            "unscaled": "scaling",
        },
    )
