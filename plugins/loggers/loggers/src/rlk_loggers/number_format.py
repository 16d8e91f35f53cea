"""Formats numbers for people and for programs."""

from __future__ import annotations

import math


def readable(value: float) -> str:
    """A number in few characters: whole numbers with commas, others with about four digits.

    >>> readable(12345), readable(212.34), readable(0.00125), readable(0.000123), readable(500.0)
    ('12,345', '212.3', '0.001250', '1.23e-04', '500.0')
    """
    if isinstance(value, int):
        return f"{value:,}"
    size = abs(value)
    if not math.isfinite(value) or size == 0.0:
        return f"{value:g}"
    if size >= 1e7 or size < 1e-3:
        return f"{value:.2e}"
    for least, digits in ((1000.0, 0), (100.0, 1), (10.0, 2), (1.0, 3)):
        if size >= least:
            return f"{value:,.{digits}f}"
    return f"{value:#.4g}"  # with the zeros at its end, like those above


def compact(value: float) -> str:
    """A number without spaces or commas, for lines that programs read.

    >>> compact(12345), compact(12345.678), compact(0.1)
    ('12345', '12345.7', '0.1')
    """
    return str(value) if isinstance(value, int) else f"{value:.6g}"
