"""The signatures of the model classes: names and defaults as Stable Baselines documents them.

A class lists the names of its parameters in order. The defaults of hyperparameters are read from
the algorithm's config, which follows the same documentation.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from numbers import Integral
from types import NoneType
from typing import Any, ClassVar

import attrs

from rlk.errors import either, nearest
from rlk.program_warnings import warn_program
from rlk.registry.kernel import default_kernel
from rlk.settings import default_of
from rlk_baselines.refusals import Refused

#: Parameters of every model that are not hyperparameters, with their defaults.
OF_ALL: Mapping[str, Any] = {
    "verbose": 0,
    "tensorboard_log": None,
    "_init_setup_model": True,
    "policy_kwargs": None,
    "full_tensorboard_log": False,
    "seed": None,
    "n_cpu_tf_sess": None,
}

_DICT = ((Mapping, NoneType), "a dict or None")
#: Arguments that rlk does not check, as the models use them by themselves: the types that each may
#: have, and what messages call them.
_TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "policy_kwargs": _DICT,
    "replay_buffer_kwargs": _DICT,
    "tensorboard_log": ((str, os.PathLike, NoneType), "a folder or None"),
    "seed": ((Integral, NoneType), "a whole number or None"),
    "verbose": ((Integral,), "a whole number"),
    "stats_window_size": ((Integral,), "a whole number"),
}


class Documented(type):
    """Lets `inspect.signature` show the documented signature of a model class."""

    names: ClassVar[tuple[str, ...]]
    algo: ClassVar[str]
    usual: ClassVar[Mapping[str, Any]]

    @property
    def __signature__(cls) -> inspect.Signature:
        return signature(cls)


def config_of(algo: str) -> Any:
    """The config class of an algorithm."""
    return default_kernel().registries.algorithms.get(algo).component().config


def signature(model: Any) -> inspect.Signature:
    """The signature of a model class.

    It is made from the class attributes `names` and `algo`; `usual` holds defaults that differ from
    those of the config. A class without an algorithm (`HER`, the base classes) has the signature of
    its constructor.
    """
    if model.algo not in default_kernel().registries.algorithms:
        _, *own = inspect.signature(model.__init__).parameters.values()
        return inspect.Signature(own)
    fields = attrs.fields_dict(config_of(model.algo))
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("policy", "env")]
    for name in model.names:
        if name in model.usual:
            default = model.usual[name]
        elif name in OF_ALL:
            default = OF_ALL[name]
        else:
            default = default_of(fields[name])
        parameters.append(inspect.Parameter(name, kind, default=default))
    return inspect.Signature(parameters)


def bound(model: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Every argument by its name, defaults included.

    Raises:
        TypeError: if the arguments do not match the signature. For an unknown keyword the message
            suggests similar names.
        Refused: for an argument of another type, if it is one that rlk does not check.
    """
    found = signature(model)
    try:
        given = found.bind(*arguments, **keywords)
    except TypeError as error:
        unknown = [name for name in keywords if name not in found.parameters]
        raise TypeError(f"{model.__name__}: {error}{_meant(unknown, found)}") from None
    given.apply_defaults()
    for name in _TYPES.keys() & given.arguments.keys():
        types, called = _TYPES[name]
        value = given.arguments[name]
        if not isinstance(value, types):
            raise Refused(f"{model.__name__}: {name} must be {called}, got {value!r:.80}.")
    return dict(given.arguments)


def _meant(unknown: list[str], found: inspect.Signature) -> str:
    near = nearest(unknown[0], found.parameters) if unknown else []
    return f". Did you mean {either(near)}?" if near else ""


def replaced(settings: dict[str, Any], old: str, new: str) -> None:
    """Move the value of a deprecated parameter to its replacement, with a DeprecationWarning."""
    value = settings.pop(old, None)
    if value is not None:
        warn_program(f"{old} is deprecated: use {new}", DeprecationWarning)
        settings[new] = value


def is_other(value: Any, default: Any) -> bool:
    """Whether an argument differs from its default, so that it must be passed on to rlk."""
    plain = isinstance(value, (bool, int, float, str, tuple))
    return value is not default and not (plain and value == default)
