"""The findings about an environment."""

from __future__ import annotations

from typing import Literal

import attrs

#: An error makes training impossible or wrong; a warning may point to a problem; a note says what
#: rlk can do with the environment.
Level = Literal["error", "warning", "note"]


@attrs.frozen
class Finding:
    """One finding, in sentences."""

    level: Level
    text: str


def error(text: str) -> Finding:
    """An error, which has to be corrected."""
    return Finding("error", text)


def warning(text: str) -> Finding:
    """A warning, which may point to a problem."""
    return Finding("warning", text)


def note(text: str) -> Finding:
    """A note for the user."""
    return Finding("note", text)
