"""From settings as a user writes them to a component's config, by cattrs with types taken strictly.

1.5 is no integer, "abc" is no float and 1 is no bool.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

import attrs
import cattrs
from cattrs.cols import (
    homogenous_tuple_structure_factory,
    list_structure_factory,
    mapping_structure_factory,
)
from cattrs.gen import make_dict_structure_fn

from rlk.errors import PlanError, UnknownName


class HeldByFiles(Protocol):
    """The value of a setting that is an object, and that files hold as what a user would type.

    The class stands in the type of the setting: `rate: float | Schedule`. What `from_setting` makes
    of what `as_setting` gave equals the object.
    """

    def as_setting(self) -> Any:
        """A text, number or list; None if no file can hold it, and it has to be passed again."""

    @classmethod
    def from_setting(cls, value: Any) -> Any:
        """What the setting is to be; ValueError, as a sentence on it, for what cannot be read."""


class PluginText:
    """The type of a setting that names a plugin (`Component.selects`); its value is a text.

    An object that stands for a plugin gives its text: `as_setting()` is `normal-noise:sigma=0.1`.
    """

    @staticmethod
    def of(name: str, **values: float | list[float]) -> str:
        """The text for a plugin with these settings, which are read again as they are."""
        return f"{name}:{','.join(f'{key}={value!r}' for key, value in values.items())}"

    @classmethod
    def from_setting(cls, value: Any) -> str:
        """The text.

        Raises:
            ValueError: for anything else.
        """
        text = value.as_setting() if hasattr(value, "as_setting") else value
        if not isinstance(text, str):
            raise ValueError(f"is a plugin, as NAME:key=value,…, got {value!r:.200}")
        return text


_WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}


def _form(kind: Any) -> Any:
    """Union, Literal or Callable, or else the type itself."""
    origin = get_origin(kind) or kind
    return Union if origin is UnionType else origin


def own_number(value: Any) -> Any:
    """A number of numpy or torch as one of Python's; anything else as it is."""
    is_scalar = getattr(value, "shape", None) == () and hasattr(value, "item")
    return value.item() if is_scalar else value


def _exactly(value: Any, kind: Any) -> Any:
    """A value that must be of the type already; a float that is whole is taken for an int."""
    value = own_number(value)
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
    """What the first alternative of a union that takes the value makes of it.

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


def _refused(kind: Any, value: Any) -> ValueError:
    """The error for a value of another type; of a text for a list, how that is typed."""
    words, is_text = type_name(kind), isinstance(value, str)
    typed = '. A list is typed as ["a", "b"] or [1, 2]' if is_text and "list of" in words else ""
    return ValueError(f"must be {words}, got {value!r:.200}{typed}")


def _reads_settings(kind: Any) -> bool:
    """Whether a type is a class that says itself what becomes of a setting."""
    return isinstance(kind, type) and hasattr(kind, "from_setting")


def _container(factory: Any, kinds: tuple[type, ...]) -> Callable[[Any, cattrs.Converter], Any]:
    """What makes a list of a list and a dict of a dict: a text is no list of its letters."""

    def hook(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
        contents = factory(kind, converter)

        def structure(value: Any, _: Any) -> Any:
            if not isinstance(value, kinds):
                raise _refused(kind, value)
            return contents(value, kind)

        return structure

    return hook


def _fixed_tuple_factory(kind: Any, converter: cattrs.Converter) -> Callable[[Any, Any], Any]:
    """What makes a tuple of a fixed number of values."""
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


def strict_converter(**options: Any) -> cattrs.Converter:
    """A converter that takes types strictly.

    Args:
        options: of `cattrs.Converter`.
    """
    made = cattrs.Converter(**options)
    for kind in _WORDS:
        made.register_structure_hook(kind, _exactly)
    made.register_structure_hook_func(lambda kind: _form(kind) in (Literal, Callable), _exactly)
    made.register_structure_hook_func(lambda kind: _form(kind) is Union, _first_alternative(made))
    made.register_structure_hook_factory(
        lambda kind: _form(kind) is list, _container(list_structure_factory, (list, tuple))
    )
    made.register_structure_hook_factory(
        lambda kind: _form(kind) is tuple and get_args(kind)[1:] == (...,),
        _container(homogenous_tuple_structure_factory, (list, tuple)),
    )
    made.register_structure_hook_factory(
        lambda kind: _form(kind) is tuple and ... not in get_args(kind),
        _container(_fixed_tuple_factory, (list, tuple)),
    )
    made.register_structure_hook_factory(
        lambda kind: _form(kind) is dict, _container(mapping_structure_factory, (dict,))
    )
    made.register_structure_hook_factory(
        lambda kind: attrs.has(kind) or is_dataclass(kind), _container(_record_factory, (dict,))
    )
    made.register_structure_hook_func(_reads_settings, lambda value, kind: kind.from_setting(value))
    return made


_converter = strict_converter(detailed_validation=False)


def names(config: type | None) -> list[str]:
    """The name of every setting that a config class takes."""
    return [field.name for field in attrs.fields(config) if field.init] if config else []


def structure(
    config: type | None,
    values: Mapping[str, Any],
    whose: str,
    others: Iterable[str] = (),
    hint: str = "",
) -> Any:
    """An instance of a config class; None where there is no class.

    Args:
        config: an attrs class, or None for a component without settings.
        values: settings by name.
        whose: what the error calls the component.
        others: names that an unknown key might have been meant for.
        hint: where all names are listed.

    Raises:
        PlanError: for a value that the class does not take, or one that it needs and that is not
            there.
        UnknownName: for a key that it does not have.
    """
    if config is None and values:
        raise PlanError(f"{whose} has no settings, got {', '.join(sorted(values))}.")
    if config is None:
        return None
    for key in values:
        if key not in names(config):
            raise UnknownName(f"setting of {whose}:", key, [*names(config), *others], hint)
    for field in attrs.fields(config):
        if field.default is attrs.NOTHING and field.init and field.name not in values:
            about = f": {field.metadata['help']}" if "help" in field.metadata else ""
            raise PlanError(f"{whose} needs {field.name}{about}. {hint}".rstrip())
    hints = _type_hints(config)
    arguments = {}
    for key, value in values.items():
        try:
            arguments[key] = _converter.structure(value, hints[key])
        except Exception as error:
            raise _refusal(f"{whose}: {key}", error) from None
    try:
        return config(**arguments)
    except Exception as error:
        raise _refusal(f"{whose}:", error) from None


def _refusal(about: str, error: Exception) -> PlanError:
    """What a converter or a validator says, as a sentence about a setting."""
    reason = str(error.args[0] if error.args else type(error).__name__)
    return PlanError(
        f"{about} {reason}" if reason.endswith("?") else f"{about} {reason.rstrip('.')}."
    )


@cache
def _type_hints(config: type) -> dict[str, Any]:
    """The types of a config class's fields; evaluating them anew costs a fifth of planning."""
    return get_type_hints(config)


def unstructure(config: Any) -> dict[str, Any]:
    """A config as JSON values; {} where there is none."""
    return {} if config is None else plain(attrs.asdict(config, recurse=False))


def plain(value: Any) -> Any:
    """A value as JSON has it; a function, which no file can hold, as `{"callable": its name}`.

    An object says itself what it is in a file, if it can (`HeldByFiles`).
    """
    value = own_number(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    held = value.as_setting() if hasattr(type(value), "as_setting") else None
    if held is not None:
        return plain(held)
    return {"callable": getattr(value, "__qualname__", repr(value))}


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
