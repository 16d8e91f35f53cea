"""The settings of a config class as text, for `rlk plugins show` and for READMEs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

import attrs

from rlk.settings import type_name


class Field(NamedTuple):
    """One setting; the default is in the form that a user types."""

    name: str
    type: str
    default: str
    help: str
    choices: tuple[str, ...] = ()  #: the words to choose from, if it takes no other value


def fields_of(config: type, own: Mapping[str, Any] | None = None) -> list[Field]:
    """Every setting of a config class, in its order.

    Args:
        config: an attrs class.
        own: defaults that the component's name determines, in place of the class's.
    """
    hints, fixed = get_type_hints(config), own or {}
    rows = []
    for field in attrs.fields(config):
        if not field.init:
            continue
        default: Any = field.default
        if isinstance(default, attrs.Factory):  # type: ignore[arg-type]
            default = default.factory()
        default = fixed.get(field.name, default)
        shown = "required" if default is attrs.NOTHING else typed(default)
        kind, help_text = hints[field.name], field.metadata.get("help", "")
        choices = tuple(map(typed, get_args(kind))) if get_origin(kind) is Literal else ()
        rows.append(Field(field.name, type_name(kind), shown, help_text, choices))
    return rows


def typed(value: Any) -> str:
    """A value in the form for `--set KEY=`: `true`, `none`, `1e-06`, `[64, 64]`, `auto`."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(typed, value))}]"
    return str(value)
