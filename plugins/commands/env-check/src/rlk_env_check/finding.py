"""What was found out about an environment."""

from __future__ import annotations

from typing import Literal

import attrs

#: An error keeps agents from being trained, or from being trained right; a warning is worth a look;
#: a note says what rlk can do with it.
Level = Literal["error", "warning", "note"]


@attrs.frozen
class Finding:
    """One thing that was found, in sentences."""

    level: Level
    text: str


def error(text: str) -> Finding:
    """Something that has to be corrected."""
    return Finding("error", text)


def warning(text: str) -> Finding:
    """Something that is worth a look."""
    return Finding("warning", text)


def note(text: str) -> Finding:
    """Something to know."""
    return Finding("note", text)
