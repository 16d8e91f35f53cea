"""The findings about an environment."""

from __future__ import annotations

from typing import Literal

import attrs

#: An error makes training impossible or wrong; a warning may point to a problem; a note says what
#: rlk can do with the environment.
Level = Literal["error", "warning", "note"]


@attrs.frozen
class Finding:
    """One finding.

    Attributes:
        text: it, in sentences.
        topic: what it is about, without the numbers that differ from step to step: of all steps,
            only the first finding of each topic is reported. "" for what is checked only once.
    """

    level: Level
    text: str
    topic: str = ""


def error(text: str, topic: str = "") -> Finding:
    """An error, which has to be corrected."""
    return Finding("error", text, topic)


def warning(text: str, topic: str = "") -> Finding:
    """A warning, which may point to a problem."""
    return Finding("warning", text, topic)


def note(text: str) -> Finding:
    """A note for the user."""
    return Finding("note", text)
