"""From settings as a user writes them to a component's config, and from a config to JSON values."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial
from typing import Any, Protocol, TypeVar, get_type_hints

import attrs

from rlk.errors import PlanError, UnknownName
from rlk.plain_values import plain_setting
from rlk.strict_types import own_number as own_number
from rlk.strict_types import strict_converter
from rlk.strict_types import type_name as type_name

Config = TypeVar("Config")
_converter = strict_converter(detailed_validation=False)
#: The largest number of float32, in which observations, actions and networks are computed.
LARGEST_FLOAT32 = (2 - 2**-23) * 2.0**127


class HeldByFiles(Protocol):
    """A setting's value that is an object, and that files hold in the form that a user would type.

    The class is part of the setting's type: `rate: float | Schedule`. `from_setting` of the
    result of `as_setting` equals the object.
    """

    def as_setting(self) -> Any:
        """A text, number or list; None if no file can hold it, so it has to be passed again."""

    @classmethod
    def from_setting(cls, value: Any) -> Any:
        """The value for the setting; ValueError, with a sentence about it, if it is not valid."""


class PluginText:
    """The type of a setting that names a plugin (`Component.selects`); its value is a text.

    An object that stands for a plugin gives its text: `as_setting()` is `normal-noise:sigma=0.1`.
    """

    @staticmethod
    def of(name: str, **values: float | list[float]) -> str:
        """The text for a plugin with these settings; reading it gives the same values."""
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


def setting(
    text: str,
    validator: Any = None,
    *,
    written: bool = False,
    read: bool = False,
    environment: bool = False,
) -> dict[str, Any]:
    """The arguments of `attrs.field` for a setting: `attrs.field(default=1.0, **setting("…"))`.

    Args:
        text: the help text.
        validator: of this module (`at_least(1)`) or of attrs, or a list of them.
        written: whether it names a file to write to: no saved plan may choose it, except by the
            field's own default.
        read: whether it names a file to read: processes that share a run may name different ones.
        environment: whether its value is an environment, or keywords of one: code that it names
            must be passed again.
    """
    marks = {"written": written, "read": read, "environment": environment}
    return {"metadata": {"help": text, **marks}, "validator": validator}


class _ListsSettings:
    """A docstring of a config class, to which the settings are added whenever it is read."""

    def __init__(self, text: str | None) -> None:
        self._text = text  # None under python -OO

    def __get__(self, config: Any, owner: type) -> str:
        import inspect  # not at the top: only help() needs them
        import textwrap

        fields = [field for field in attrs.fields(owner) if field.init]
        lines = [f"{field.name}: {field.metadata.get('help', '')}" for field in fields]
        filled = [textwrap.fill(one, 92, subsequent_indent="    ") for one in lines]
        listed = textwrap.indent("\n".join(filled), "    ")
        return f"{inspect.cleandoc(self._text or '')}\n\nArgs:\n{listed}\n".lstrip()


def documented(config: type[Config]) -> type[Config]:
    """A config class whose docstring lists its settings with their help texts, for `help`.

    It stands above the decorator of attrs: `@documented`, then `@attrs.frozen(kw_only=True)`.
    """
    config.__doc__ = _ListsSettings(config.__doc__)  # type: ignore[assignment]
    return config


def finite(_: object, attribute: attrs.Attribute[Any], value: float | Iterable[float]) -> None:
    """An attrs validator: ValueError for what is inf or nan in float32, also in a list."""
    numbers = value if isinstance(value, Iterable) else [value]
    if not all(abs(number) <= LARGEST_FLOAT32 for number in numbers):
        raise ValueError(
            f"{attribute.name} must be finite in float32 (up to 3.4e38), got {value!r}"
        )


def fits_float32(
    _: object, attribute: attrs.Attribute[Any], value: float | Iterable[float]
) -> None:
    """An attrs validator for bounds, which may be inf: ValueError for others beyond float32."""
    numbers = value if isinstance(value, Iterable) else [value]
    if not all(abs(number) <= LARGEST_FLOAT32 or abs(number) == math.inf for number in numbers):
        raise ValueError(
            f"{attribute.name} must fit into float32 (up to 3.4e38), got {value!r}; type inf for "
            "no bound"
        )


@attrs.frozen
class _Bound:
    """An attrs validator of a number: ValueError, which says the bound in words, for others."""

    words: str
    _holds: Callable[[float, float], bool]
    bound: float
    or_none: bool = attrs.field(default=False, kw_only=True)

    def __call__(self, _: object, attribute: attrs.Attribute[Any], value: float | None) -> None:
        if value is None and self.or_none:
            return
        if value is None or not self._holds(value, self.bound):
            rest = ", or none" if self.or_none else ""
            raise ValueError(
                f"{attribute.name} must be {self.words} {self.bound:.15g}{rest}, got {value!r}"
            )


#: Validators of the settings that are numbers: `at_least(1)`, `above(0.0, or_none=True)`.
at_least, above = partial(_Bound, "at least", operator.ge), partial(_Bound, "above", operator.gt)
at_most, below = partial(_Bound, "at most", operator.le), partial(_Bound, "below", operator.lt)


def between(least: float, most: float) -> Any:
    """An attrs validator: ValueError for numbers outside of these two, which are allowed."""
    return attrs.validators.and_(at_least(least), at_most(most))


#: A validator of fractions and probabilities, from 0 to 1.
UNIT = between(0.0, 1.0)


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
        whose: the component's name in errors.
        others: further names that an unknown key may have been meant for.
        hint: where all names are listed.

    Raises:
        PlanError: for a value that the class refuses, or one that it needs and that is missing.
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
    """The error of a converter or a validator, as a sentence about a setting."""
    reason = str(error.args[0] if error.args else type(error).__name__)
    return PlanError(
        f"{about} {reason}" if reason.endswith("?") else f"{about} {reason.rstrip('.')}."
    )


@cache
def _type_hints(config: type) -> dict[str, Any]:
    """The types of a config class's fields; evaluating them anew costs a fifth of planning."""
    return get_type_hints(config)


def default_of(field: attrs.Attribute[Any]) -> Any:
    """The default of a setting; `attrs.NOTHING` if it has none, or one that depends on others."""
    made: Any = field.default
    if hasattr(made, "factory"):
        return attrs.NOTHING if made.takes_self else made.factory()
    return made


def changed(config: Any) -> dict[str, Any]:
    """The settings of a config that are not its class's defaults; {} for None.

    A class that is derived from another config may have other defaults, so all of its count.
    """
    if config is None:
        return {}
    found = names(type(config))
    is_derived = any(attrs.has(base) for base in type(config).__mro__[1:])
    given = found if is_derived else differing(config, found)
    return {name: getattr(config, name) for name in given}


def differing(config: Any, among: Iterable[str]) -> list[str]:
    """Those of these settings of a config that are not its class's defaults."""
    fields = attrs.fields_dict(type(config))
    return [name for name in among if getattr(config, name) != default_of(fields[name])]


def unstructure(config: Any) -> dict[str, Any]:
    """A config as JSON values; {} where there is none."""
    values = {} if config is None else attrs.asdict(config, recurse=False)
    return {name: plain_setting(value) for name, value in values.items()}
