"""How the settings `ent_coef` and `target_entropy` are read. Imports no torch."""

from __future__ import annotations

import math


def parse_ent_coef(value: float | str) -> tuple[bool, float]:
    """Whether the entropy coefficient is learnt, and its (initial) value.

    Raises:
        ValueError: for anything but `auto`, `auto_NUMBER` above 0, or a number of at least 0.
    """
    head, separator, number = str(value).partition("_")
    learnt = isinstance(value, str) and head == "auto"
    try:
        found = float(value if not learnt else number if separator else 1.0)
    except ValueError:
        found = math.nan
    if not math.isfinite(found) or found < 0 or (learnt and found == 0):
        raise ValueError(
            f"must be 'auto', 'auto_0.1' (learnt from 0.1 on) or a number of at least 0, "
            f"got {value!r}"
        )
    return learnt, found


def parse_target_entropy(value: float | str, action_size: int) -> float:
    """The target entropy in nats, for which the coefficient is learnt.

    Args:
        value: a number, also as text, as Stable Baselines takes it; or `auto`, which is minus the
            size of an action.
        action_size: numbers per action.

    Raises:
        ValueError: for anything else.
    """
    if value == "auto":
        return -float(action_size)
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise ValueError(f"must be 'auto' or a number, got {value!r}")
    return found
