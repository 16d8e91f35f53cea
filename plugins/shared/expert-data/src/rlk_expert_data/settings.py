"""Settings that choose the expert to imitate: validators and help texts, written once.

Each constant holds arguments of `attrs.field` besides the default. Imports no numpy.
"""

from __future__ import annotations

from typing import Any

import attrs
from attrs import validators as v

from rlk.settings import setting


def is_limitation(_: object, attribute: attrs.Attribute[Any], value: int) -> None:
    """Raise ValueError for an invalid number of trajectories."""
    if value != -1 and value < 1:
        raise ValueError(f"{attribute.name} must be at least 1, or -1 for all, got {value!r}")


EXPERT_PATH = setting(
    "the file of generate_expert_traj (.npz), or minari:ID",
    v.optional(v.instance_of(str)),
    read=True,
)
TRAJ_LIMITATION = setting(
    "how many trajectories are used, from the first on; -1 uses all", is_limitation
)
