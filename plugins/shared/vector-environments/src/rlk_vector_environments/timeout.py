"""The setting of how long a worker may take. It imports nothing: settings are read before a run."""

from __future__ import annotations

from typing import Any


def above_zero(instance: object, field: Any, seconds: float | None) -> None:
    """Raises ValueError for a time that is not above 0; None, for ever, is taken."""
    if seconds is not None and not seconds > 0:
        raise ValueError(f"'{field.name}' must be above 0, or none: {seconds}")
