"""The settings of a config class as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

import attrs

from rlk.settings import type_name


def fields_of(
    config: type, own: Mapping[str, Any] | None = None
) -> list[tuple[str, str, str, str]]:
    """(name, type, default, help) of every setting.

    Args:
        config: an attrs class.
        own: defaults that the component's name fixes, in place of the class's.
    """
    hints, fixed = get_type_hints(config), own or {}
    rows = []
    for field in attrs.fields(config):
        default: Any = field.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            default = default.factory()
        default = fixed.get(field.name, default)
        shown = "required" if default is attrs.NOTHING else repr(default)
        help_text = field.metadata.get("help", "")
        rows.append((field.name, type_name(hints[field.name]), shown, help_text))
    return rows
