"""The arguments of the model classes: names and defaults as Stable Baselines documents them.

They are the parameters of a class's `__init__`, which editors and type checkers read. Its
decorator, `constructor`, says what is special about some of them: another name in rlk, what happens
when they are set, which other argument they need.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from types import NoneType
from typing import Any, Literal, TypeVar, cast

import attrs
import numpy as np

from rlk.errors import either, nearest
from rlk.program_warnings import warn_program
from rlk_baselines.refusals import Refused

Init = TypeVar("Init", bound=Callable[..., None])
WHOLE = ((Integral,), "a whole number")
DICT = ((Mapping, NoneType), "a dict or None")


@attrs.frozen
class Needed:
    """The condition for an argument to have an effect."""

    switch: str  #: the name of another argument
    says: str  #: the value that it needs, for the warning
    is_on: Callable[[Any], bool] = bool  #: whether a value of `switch` meets the condition


@attrs.frozen
class Rate:
    """The `change` of a learning rate: the run replaces its schedule."""

    groups: tuple[str, ...]  #: the parameter groups that learn with it


@attrs.frozen
class Scheduled:
    """The `change` of another scheduled number: the run replaces its schedule."""

    schedule: str  #: the name of the schedule in a run


@attrs.frozen
class Argument:
    """An argument of a model's constructor, which is also an attribute of the model."""

    name: str
    #: That of the parameter, from which `described` takes it.
    default: Any = attrs.field(default=None, kw_only=True)
    #: The key of rlk's setting; None if there is none: the model or a plugin of its uses it.
    rlk: str | None = attrs.field(
        default=attrs.Factory(lambda self: self.name, takes_self=True), kw_only=True
    )
    #: Makes rlk's value from the argument's.
    convert: Callable[[Any], Any] | None = attrs.field(default=None, kw_only=True)
    #: The types that it may have, and what messages call them; None if rlk checks it.
    type: tuple[tuple[type, ...], str] | None = attrs.field(default=None, kw_only=True)
    #: Whether files hold it beside the plan, which does not have it by this name. It is a whole
    #: number, a flag or None: no path, so that no file decides where something is written.
    is_held: bool = attrs.field(default=False, kw_only=True)
    #: What setting the attribute does: the model is rebuilt, but not while it learns; the model
    #: reads it at every use; it is refused, because the networks are made; or the algorithm, which
    #: reads it from its config at every use, or the run's schedule is given the new value at once.
    change: Literal["rebuild", "read", "refuse", "at once"] | Rate | Scheduled = attrs.field(
        default="rebuild", kw_only=True
    )
    needs: Needed | None = attrs.field(default=None, kw_only=True)
    #: If the default is the only supported value: what to use instead of others.
    only: str = attrs.field(default="", kw_only=True)
    #: If it is deprecated: the name of the argument that replaces it.
    deprecated_for: str = attrs.field(default="", kw_only=True)

    def setting(self, value: Any) -> tuple[str, Any]:
        """The key and the value of rlk's setting for a value of the argument."""
        return self.rlk or self.name, value if self.convert is None else self.convert(value)


VERBOSE = Argument("verbose", rlk=None, type=WHOLE, is_held=True, change="read")
TENSORBOARD_LOG = Argument(
    "tensorboard_log",
    rlk=None,
    type=((str, os.PathLike, NoneType), "a folder or None"),
    change="read",
)
SET_UP = Argument("_init_setup_model", rlk=None, change="read")
POLICY_KWARGS = Argument("policy_kwargs", rlk=None, type=DICT, change="refuse")
FULL_LOG = Argument(
    "full_tensorboard_log",
    rlk=None,
    is_held=True,
    change="read",
    needs=Needed("tensorboard_log", "…"),
)
SEED = Argument("seed", type=((Integral, NoneType), "a whole number or None"))
THREADS = Argument("n_cpu_tf_sess", rlk="n_threads", is_held=True)
#: The last arguments of most models of Stable Baselines 2.10.
LAST = (VERBOSE, TENSORBOARD_LOG, SET_UP, POLICY_KWARGS, FULL_LOG, SEED, THREADS)


def at_once(*names: str) -> tuple[Argument, ...]:
    """The arguments of these names, which may be changed while the model learns."""
    return tuple(Argument(name, change="at once") for name in names)


def constructor(*special: Argument) -> Callable[[Init], Init]:
    """Decorate the `__init__` of a model class, whose parameters are the class's arguments.

    The decorated function has no body and is never called: a call is read by `bound`, whose errors
    name what was meant, and `_construct` makes the model.

    Args:
        special: what is special about some of the arguments.

    Raises:
        ValueError: if one of these is no parameter.
    """

    def decorated(shown: Init) -> Init:
        @functools.wraps(shown)
        def init(model: Any, *arguments: Any, **keywords: Any) -> None:
            model._construct(bound(type(model), arguments, keywords))

        made: Any = init
        made.__signature__ = inspect.signature(shown, eval_str=True)  # with types, not their names
        made.arguments = described(shown, special)
        return cast(Init, init)

    return decorated


def described(shown: Callable[..., None], special: Iterable[Argument] = ()) -> dict[str, Argument]:
    """The parameters of an `__init__` after policy and env, by name, with their defaults."""
    _, _, _, *parameters = inspect.signature(shown).parameters.values()
    known = {one.name: one for one in special}
    if missing := known.keys() - {one.name for one in parameters}:
        raise ValueError(f"{shown.__qualname__} has no parameter {', '.join(sorted(missing))}")
    return {
        one.name: attrs.evolve(known.get(one.name, Argument(one.name)), default=one.default)
        for one in parameters
    }


def signature(model: Any) -> inspect.Signature:
    """The signature by which `bound` reads a call: policy, env and the arguments of a model class.

    A program's class with a constructor of its own has that of the class from which it is derived.
    """
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(name, kind) for name in ("policy", "env")]
    parameters += [
        inspect.Parameter(name, kind, default=one.default) for name, one in model.arguments.items()
    ]
    return inspect.Signature(parameters)


def documented_class(model: Any) -> type:
    """The class of this package that a model has, or from which a program's class is derived."""
    return next(kind for kind in type(model).__mro__ if "algo" in vars(kind))


def show_defaults(kind: Any) -> None:
    """Let `inspect.signature` show the documented defaults of `learn` and `predict` of a class."""
    _show(kind, "learn", {"log_interval": kind.rows, "tb_log_name": kind.__name__})
    _show(kind, "predict", {"deterministic": kind.acts_deterministically})


def _show(kind: Any, name: str, defaults: Mapping[str, Any]) -> None:
    """Let a method of a class show these defaults; the class gets one of its own for that."""
    if name not in vars(kind):
        setattr(kind, name, _handing_on(kind, name))
    method = vars(kind)[name]
    plain = inspect.signature(method)
    shown = [
        one.replace(default=defaults.get(key, one.default)) for key, one in plain.parameters.items()
    ]
    method.__signature__ = plain.replace(parameters=shown)


def _handing_on(kind: Any, name: str) -> Callable[..., Any]:
    """A method of a class that calls the one above it, in whichever class that is found."""

    @functools.wraps(getattr(kind, name))
    def method(self: Any, *arguments: Any, **keywords: Any) -> Any:
        return getattr(super(kind, self), name)(*arguments, **keywords)

    method.__module__, method.__qualname__ = kind.__module__, f"{kind.__qualname__}.{name}"
    return method


def bound(model: Any, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Every argument by its name, defaults included.

    Raises:
        TypeError: if the arguments do not match the signature. For an unknown keyword the message
            suggests similar names.
        Refused: for a class that no model can be of, or an argument of another type, if it is one
            that rlk does not check.
    """
    model._refuse_class()
    found = signature(model)
    try:
        given = found.bind(*arguments, **keywords)
    except TypeError as error:
        unknown = [name for name in keywords if name not in found.parameters]
        told = "".join(_about(name, model, found) for name in unknown[:1])
        raise TypeError(f"{model.__name__}: {error}{told}") from None
    given.arguments = by_current_names(given.arguments, model.arguments.values())
    given.apply_defaults()
    for one in model.arguments.values():
        value = given.arguments[one.name]
        if one.type is not None and not isinstance(value, one.type[0]):
            raise Refused(f"{model.__name__}: {one.name} must be {one.type[1]}, got {value!r:.80}.")
    return dict(given.arguments)


def _about(unknown: str, model: type, found: inspect.Signature) -> str:
    """What is said of an unknown keyword: similar names, and the classes that take it."""
    near = nearest(unknown, found.parameters)
    said = f". Did you mean {either(near)}?" if near else "."
    for package in dict.fromkeys(base.__module__.partition(".")[0] for base in model.__mro__):
        exported = getattr(sys.modules.get(package), "__all__", ())
        classes = [getattr(sys.modules[package], name) for name in exported]
        taking = [one.__name__ for one in classes if unknown in getattr(one, "arguments", ())]
        if taking:
            return f"{said} Of {package}, these take it: {', '.join(taking)}."
    return said.removesuffix(".")


def by_current_names(given: Mapping[str, Any], arguments: Iterable[Argument]) -> dict[str, Any]:
    """The values that a program gives, those of deprecated arguments by what replaces them.

    A DeprecationWarning says so. If the other one is given, too, it wins.
    """
    found = dict(given)
    for old in arguments:
        new = old.deprecated_for
        if not new or (value := found.pop(old.name, None)) is None:
            continue
        warn_program(f"{old.name} is deprecated: use {new}", DeprecationWarning)
        found.setdefault(new, value)
    return found


def plain_number(value: Any) -> Any:
    """A value of an argument; Python's number for one of numpy's, which no file holds."""
    return value.item() if isinstance(value, np.generic) else value


def is_finite(value: Any) -> bool:
    """Whether a value is a number with which a model may compute before rlk checks it."""
    value = plain_number(value)
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def is_other(value: Any, default: Any) -> bool:
    """Whether an argument differs from its default, so that it must be passed on to rlk."""
    plain = isinstance(value, (bool, int, float, str, tuple))
    return value is not default and not (plain and value == default)
