"""Formats rows of numbers, and coloured text, for the terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

_COLOURS = ("gray", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
_CODES = {**{name: 30 + i for i, name in enumerate(_COLOURS)}, "crimson": 38}


def fmt_row(width: int, row: Iterable[Any], header: bool = False) -> str:
    """The items of a row, `width` columns each; a header is underlined."""
    found = " | ".join(fmt_item(item, width) for item in row)
    return f"{found}\n{'-' * len(found)}" if header else found


def fmt_item(item: Any, min_width: int) -> str:
    """An item, right-justified; a float has five decimals, or two and an exponent."""
    value: Any = item[()] if isinstance(item, np.ndarray) else item
    if not isinstance(value, (float, np.floating)):
        return str(value).rjust(min_width)
    number = float(value)
    is_usual = number == 0 or 1e-4 <= abs(number) <= 1e4
    return (f"{number:7.5f}" if is_usual else f"{number:7.2e}").rjust(min_width)


def colorize(string: str, color: str, bold: bool = False, highlight: bool = False) -> str:
    """A text with the terminal's escape codes for a colour.

    Args:
        string: the text.
        color: gray, red, green, yellow, blue, magenta, cyan, white or crimson.
        bold: whether the text is bold.
        highlight: whether to colour the background instead of the text.
    """
    code = _CODES[color] + (10 if highlight else 0)
    return f"\x1b[{code}{';1' if bold else ''}m{string}\x1b[0m"
