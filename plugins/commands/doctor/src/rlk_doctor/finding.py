"""A line of `rlk doctor`."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Finding:
    """What was checked, and the result.

    Attributes:
        state: something `missing` is optional; something `broken` keeps rlk from working.
        advice: what to type; "" if nothing is wrong.
    """

    what: str
    found: str
    state: Literal["ok", "missing", "broken"] = "ok"
    advice: str = ""
