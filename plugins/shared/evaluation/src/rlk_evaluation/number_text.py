"""Returns as texts: rewards have any scale, so digits count, not decimals."""

from __future__ import annotations


def significant(value: float) -> str:
    """A number with six significant digits, without zeros at its end; all digits of a large one.

    >>> significant(212.0), significant(-97.25), significant(0.00031), significant(1234567.8)
    ('212', '-97.25', '0.00031', '1234568')
    """
    return f"{value:.0f}" if 1e5 <= abs(value) < 1e15 else f"{value:.6g}"
