"""Warns about constructor arguments that have no effect because of another argument.

Stable Baselines and Stable-Baselines3 ignore them silently, and rlk itself refuses them. A model
uses the defaults of such arguments, as long as they have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.program_warnings import warn_program
from rlk_baselines.arguments import Argument, is_other


def with_effect(given: Mapping[str, Any], arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """The values of arguments, with the default for each one without effect, and a warning."""
    found = dict(given)
    for name, one in arguments.items():
        if one.needs is None or not is_other(given[name], one.default):
            continue
        if not one.needs.is_on(given[one.needs.switch]):
            warn_without_effect(name, given[name], f"{one.needs.switch}={one.needs.says}")
            found[name] = one.default
    return found


def warn_without_effect(name: str, value: Any, needed: str) -> None:
    """Warn that an argument has no effect without another one."""
    warn_program(f"{name}={value!r} has no effect without {needed}")
