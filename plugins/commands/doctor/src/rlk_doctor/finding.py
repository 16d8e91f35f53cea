"""A line of `rlk doctor`."""

from __future__ import annotations

from typing import Literal

import attrs


@attrs.frozen
class Finding:
    """What was looked at and what was found.

    Attributes:
        state: `missing` is what some can do without, `broken` what keeps rlk from working.
        advice: what to type; "" where nothing is wrong.
    """

    what: str
    found: str
    state: Literal["ok", "missing", "broken"] = "ok"
    advice: str = ""
