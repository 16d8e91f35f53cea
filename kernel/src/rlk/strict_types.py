"""Converts values to the types of settings and records, strictly, with cattrs.

1.5 is not an integer, "abc" is not a float and 1 is not a bool.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import is_dataclass
from pathlib import Path, PurePath
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

import attrs
import cattrs
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    list_structure_factory,
    mapping_structure_factory,
)
from cattrs.gen import make_dict_structure_fn

_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}


def strict_converter(**options: Any) -> cattrs.Converter:
    """A converter that takes types strictly.

    Args:
        options: of `cattrs.Converter`.
    """
    made = cattrs.Converter(**options)
    for kind in _WORDS:
        made.register_structure_hook(kind, _exactly)
    for path in (PurePath, Path):
        made.register_structure_hook(path, _path)
    made.register_structure_hook_func(lambda kind: _form(kind) in (Literal, Callable), _exactly)
    made.register_structure_hook_func(lambda kind: _form(kind) is Union, _first_alternative(made))
    for is_one, factory, taken in _CONTAINERS:
        made.register_structure_hook_factory(is_one, _container(factory, taken))
    made.register_structure_hook_func(_reads_settings, lambda value, kind: kind.from_setting(value))
    return made


def type_name(kind: Any) -> str:
    """A type as a person writes it."""
    form, parts = _form(kind), get_args(kind)
    if form in (Literal, Union):
        return " or ".join(map(repr if form is Literal else type_name, parts))
    if form is Callable:
        return "a callable"
    if form is tuple and ... not in parts:
        return f"[{', '.join(map(type_name, parts))}]"
    if form in (list, tuple) and parts:
        several = _form(parts[0]) is Union
        return f"list of ({type_name(parts[0])})" if several else f"list of {type_name(parts[0])}"
    return "none" if kind is NoneType else getattr(kind, "__name__", str(kind))


def own_number(value: Any) -> Any:
    """A number of numpy or torch as one of Python's; anything else as it is."""
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if is_scalar else value


def _form(kind: Any) -> Any:
    """Union, Literal or Callable, or else the type itself."""
    origin = get_origin(kind) or kind
    return Union if origin is UnionType else origin


def _exactly(value: Any, kind: Any) -> Any:
    """A value that must have the type already; a whole float is accepted as an int.

    What is typed as `none` arrives as None, also where that is one of the words.
    """
    value = own_number(value)
    if value is None and _form(kind) is Literal and "none" in get_args(kind):
        return "none"
    if not _is_exactly(value, kind):
        raise ValueError(f"must be {_WORDS.get(kind) or type_name(kind)}, got {value!r:.200}")
    return kind(value) if kind in (int, float) else value


def _is_exactly(value: Any, kind: Any) -> bool:
    if kind in (int, float):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and (kind is float or value == value // 1)
    if _form(kind) is Literal:
        return value in get_args(kind)
    if _form(kind) is Callable:
        return callable(value)
    return isinstance(value, kind)


def _first_alternative(converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    """A converter that uses the first alternative of a union that accepts the value.

    TOML has no null: `none` is None where that is an alternative. A class that reads settings says
    itself what is wrong with one.
    """

    def structure(value: Any, kind: Any) -> Any:
        if NoneType in get_args(kind) and (value is None or value == "none"):
            return None
        for alternative in get_args(kind):
            with contextlib.suppress(Exception):
                return converter.structure(value, alternative)
        for alternative in filter(_reads_settings, get_args(kind)):
            return converter.structure(value, alternative)  # raises what it has to say
        raise _refused(kind, value)

    return structure


def _path(value: Any, kind: type[PurePath]) -> PurePath:
    """A path, from its text or from another path."""
    if not isinstance(value, (str, PurePath)):
        raise ValueError(f"must be the path of a file or folder, got {value!r:.200}")
    return kind(value)


def _reads_settings(kind: Any) -> bool:
    """Whether a type is a class with its own conversion of settings (`from_setting`)."""
    return isinstance(kind, type) and hasattr(kind, "from_setting")


def _refused(kind: Any, value: Any) -> ValueError:
    """The error for a value of the wrong type; for a text, how to type a list or a table."""
    words, typed = type_name(kind), ""
    if isinstance(value, str) and "list of" in words:
        typed = '. A list is typed as ["a", "b"] or [1, 2]'
    elif isinstance(value, str) and dict in map(_form, (kind, *get_args(kind))):
        typed = ". A table is typed as {a = 1, b = 2}, or key by key: NAME.a=1"
    return ValueError(f"must be {words}, got {value!r:.200}{typed}")


def _container(factory: Any, kinds: tuple[type, ...]) -> Callable[[Any, cattrs.Converter], Any]:
    """A converter of lists and dicts that does not take a text for a list of its letters."""

    def hook(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
        contents = factory(kind, converter)

        def structure(value: Any, _: Any) -> Any:
            if not isinstance(value, kinds):
                raise _refused(kind, value)
            return contents(value, kind)

        return structure

    return hook


def _fixed_tuple_factory(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    """A converter to a tuple of a fixed number of values."""
    parts = get_args(kind)

    def contents(value: Any, _: Any) -> Any:
        if len(value) != len(parts):
            raise _refused(kind, value)
        return tuple([converter.structure(*pair) for pair in zip(value, parts, strict=True)])

    return contents


def _record_factory(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    return make_dict_structure_fn(
        kind, converter, _cattrs_forbid_extra_keys=converter.forbid_extra_keys
    )


#: Types that hold values of other types: which they are, what makes one, and of what it is made.
_CONTAINERS: list[tuple[Callable[[Any], bool], Any, tuple[type, ...]]] = [
    (lambda kind: _form(kind) is list, list_structure_factory, (list, tuple)),
    (
        lambda kind: _form(kind) is tuple and get_args(kind)[1:] == (...,),
        homogenous_tuple_structure_factory,
        (list, tuple),
    ),
    (
        lambda kind: _form(kind) is tuple and ... not in get_args(kind),
        _fixed_tuple_factory,
        (list, tuple),
    ),
    (lambda kind: _form(kind) is dict, mapping_structure_factory, (dict,)),
    (lambda kind: attrs.has(kind) or is_dataclass(kind), _record_factory, (dict,)),
]
