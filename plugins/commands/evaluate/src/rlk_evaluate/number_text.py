"""Returns as texts: rewards have any scale, so digits count, not decimals."""

from __future__ import annotations


def significant(value: float) -> str:
    """A number with six significant digits, without zeros at its end.

    >>> significant(212.0), significant(-97.25), significant(0.00031)
    ('212', '-97.25', '0.00031')
    """
    return f"{value:.6g}"
