"""Text in two columns that fits a terminal of any width."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap

from rlk.terminal import is_terminal

#: The right column goes below the left one if it would have less room than this.
NARROW = 28
#: How far it is then indented.
INDENT = 6


def terminal_width() -> int | None:
    """Characters of a line on the terminal, or as COLUMNS says; None on a pipe: none is broken."""
    is_bounded = is_terminal(sys.stdout) or "COLUMNS" in os.environ
    return shutil.get_terminal_size().columns if is_bounded else None


def columns(left: str, at: int, right: str, width: int | None) -> str:
    """`left`, and beside it `right`, broken between words within its own column.

    Args:
        left: a text of one line.
        at: where the right column begins; 0 for a text without a left column.
        right: of any length.
        width: of the terminal; None breaks no line.
    """
    if width is None:
        return beside(left, at, [right])
    if at and width - at < NARROW:
        below = [" " * INDENT + line for line in wrapped(right, width - INDENT)]
        return "\n".join([left, *below] if left else below)
    return beside(left, at, wrapped(right, width - at))


def beside(left: str, at: int, lines: list[str]) -> str:
    """Lines of the right column, the first beside the left one."""
    first, *others = lines or [""]
    gap = f"{left} ".ljust(at) if at else ""
    return "\n".join([gap + first, *(" " * at + line for line in others)])


def wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most so many characters, except for longer words."""
    return textwrap.wrap(text, max(width, 1), break_on_hyphens=False, break_long_words=False)
