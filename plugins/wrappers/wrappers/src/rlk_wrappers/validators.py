"""Validators of settings that several wrappers have."""

from __future__ import annotations

from typing import Any

from attrs import validators


def at_least(least: int) -> Any:
    """For whole numbers from `least` on."""
    return validators.and_(validators.instance_of(int), validators.ge(least))
