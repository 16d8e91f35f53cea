"""Values of settings in JSON's types, as files hold them; a function has none, only its name."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from rlk.strict_types import own_number


def plain_setting(value: Any) -> Any:
    """The value of a setting in JSON's types: as `plain`, and a path as text.

    The type of the setting makes it a path again. A keyword of an environment has no type.
    """
    return plain(_with_texts(value))


def _with_texts(value: Any) -> Any:
    """A value with the text of every path in it, which Windows reads as other systems do."""
    if isinstance(value, PurePath):
        return value.as_posix()
    if isinstance(value, Mapping):
        return {key: _with_texts(item) for key, item in value.items()}
    return [*map(_with_texts, value)] if isinstance(value, (list, tuple)) else value


def plain(value: Any) -> Any:
    """A value in JSON's types; a function, which no file can hold, as `{"callable": its name}`.

    So is a table with a key that is not a text, which JSON would make one. An object decides itself
    how files hold it, if it can (`HeldByFiles`).
    """
    value = own_number(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    held = value.as_setting() if hasattr(type(value), "as_setting") else None
    if held is not None:
        return plain(held)
    return {"callable": getattr(value, "__qualname__", repr(value))}


def was_callable(value: Any) -> bool:
    """Whether a value of `plain` stands for a function, which no file can hold."""
    return isinstance(value, Mapping) and value.keys() == {"callable"}


def object_in(value: Any) -> str | None:
    """The name of the first function or object in a value of `plain`, which no file can hold."""
    if was_callable(value):
        return str(value["callable"])
    inner = value.values() if isinstance(value, Mapping) else value
    if isinstance(value, (Mapping, list, tuple)):
        return next((found for item in inner if (found := object_in(item))), None)
    return None
