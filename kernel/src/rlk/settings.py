"""From settings as a user writes them to a component's config: types, ranges, unknown keys.

cattrs does the structuring, with numbers taken strictly: 1.5 is no integer, "abc" no float, 1 no
    bool.
"""

from __future__ import annotations

import collections.abc
import typing
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

import attrs
import cattrs

from rlk.errors import PlanError, UnknownName


def _int(value: Any, _: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise ValueError(f"must be a whole number, got {value!r}")
    return int(value)


def _float(value: Any, _: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"must be a number, got {value!r}")
    return float(value)


def _bool(value: Any, _: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, got {value!r}")
    return value


def _str(value: Any, _: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, got {value!r}")
    return value


def _union(value: Any, kind: Any) -> Any:
    """The first alternative that takes the value as it is; `none` is None, for TOML has no null."""
    alternatives = get_args(kind)
    if type(None) in alternatives and (value is None or value == "none"):
        return None
    for alternative in alternatives:
        if alternative is not type(None) and value is not None:
            try:
                return _converter.structure(value, alternative)
            except Exception:
                continue
    raise ValueError(f"must be {type_name(kind)}, got {value!r}")


def _callable(value: Any, _: Any) -> Any:
    if not callable(value):
        raise ValueError(f"must be a callable, got {value!r}")
    return value


def _literal(value: Any, kind: Any) -> Any:
    if value not in get_args(kind):
        raise ValueError(f"must be {type_name(kind)}, got {value!r}")
    return value


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (typing.Union, type(int | str))


def _is_literal(kind: Any) -> bool:
    origin: Any = get_origin(kind)
    return origin is Literal


def _is_callable(kind: Any) -> bool:
    return collections.abc.Callable in (kind, get_origin(kind))


def _converter_of_rlk() -> cattrs.Converter:
    converter = cattrs.Converter(detailed_validation=False)
    for kind, hook in ((int, _int), (float, _float), (bool, _bool), (str, _str)):
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook_func(_is_literal, _literal)
    converter.register_structure_hook_func(_is_union, _union)
    converter.register_structure_hook_func(_is_callable, _callable)
    return converter


_converter = _converter_of_rlk()


def structure(config: type, values: Mapping[str, Any], whose: str) -> Any:
    """An instance of an attrs config class.

    Args:
        config: the class.
        values: setting -> value as written.
        whose: for messages, e.g. `algorithm 'dqn' (rlk-dqn 0.1.0)`.

    Raises:
        PlanError: for a value of the wrong type or out of range.
        UnknownName: for a key that the class has not.
    """
    hints = get_type_hints(config)
    fields = {field.name: field for field in attrs.fields(config) if field.init}
    arguments = {}
    for key, value in values.items():
        if key not in fields:
            raise UnknownName(f"setting of {whose}:", key, fields)
        try:
            arguments[key] = _converter.structure(value, hints[key])
        except Exception as error:
            raise PlanError(f"{whose}: {key} {_because(error)}.") from None
    try:
        return config(**arguments)
    except (ValueError, TypeError) as error:
        raise PlanError(f"{whose}: {_because(error)}.") from None


def _because(error: BaseException) -> str:
    text = str(error.args[0]) if error.args else type(error).__name__
    return text.rstrip(".")


def unstructure(config: Any) -> dict[str, Any]:
    """A config as JSON values; a callable, which no file can hold, as `{"callable": its name}`."""
    return (
        {}
        if config is None
        else {
            field.name: plain(getattr(config, field.name)) for field in attrs.fields(type(config))
        }
    )


def plain(value: Any) -> Any:
    """A value as JSON has it; a callable as `{"callable": its name}`."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return {"callable": getattr(value, "__qualname__", repr(value))}


def type_name(kind: Any) -> str:
    """A type as a person writes it."""
    if _is_literal(kind):
        return " or ".join(repr(value) for value in get_args(kind))
    if _is_union(kind):
        return " or ".join(type_name(part) for part in get_args(kind))
    if kind is type(None):
        return "none"
    if get_origin(kind) is not None and "Callable" in str(kind):
        return "a callable"
    if get_origin(kind) in (list, tuple):
        parts = [type_name(part) for part in get_args(kind) if part is not Ellipsis]
        return f"list of {parts[0]}" if parts else "list"
    return {int: "int", float: "float", bool: "bool", str: "str"}.get(
        kind, getattr(kind, "__name__", str(kind))
    )


def convert(value: Any, kind: Any) -> Any:
    """One value in its type, as strictly as in a config.

    Raises:
        ValueError: saying what it must be.
    """
    return _converter.structure(value, kind)
