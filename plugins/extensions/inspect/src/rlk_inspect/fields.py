"""The settings of a config class as rows of text."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs


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


def type_name(kind: Any) -> str:
    """A type as a person writes it."""
    origin: Any = get_origin(kind)
    if kind is type(None):
        return "none"
    if origin is Literal:
        return " or ".join(repr(value) for value in get_args(kind))
    if origin in (typing.Union, types.UnionType):
        return " or ".join(type_name(part) for part in get_args(kind))
    if "Callable" in str(kind):
        return "a callable"
    if origin in (list, tuple):
        parts = [type_name(part) for part in get_args(kind) if part is not Ellipsis]
        return f"list of {parts[0]}" if parts else "list"
    return getattr(kind, "__name__", str(kind))
