"""Hyperparameters as models of Stable-Baselines3 have them: schedules that can be called."""

from __future__ import annotations

from typing import Any


class CallableNumber(float):
    """A number that is also a constant schedule: `model.clip_range(1.0)`."""

    def __call__(self, progress_remaining: float) -> float:
        return float(self)


def callable_number(value: Any) -> Any:
    """A number as a `CallableNumber`; a schedule, or None, is returned as it is."""
    return CallableNumber(value) if isinstance(value, (int, float)) else value
