"""The setting for the longest time that a worker may take. Imports nothing."""

from __future__ import annotations

from typing import Any


def above_zero(instance: object, field: Any, seconds: float | None) -> None:
    """Raise ValueError for a time that is not above 0; None means no limit."""
    if seconds is not None and not seconds > 0:
        raise ValueError(f"'{field.name}' must be above 0, or none: {seconds}")
