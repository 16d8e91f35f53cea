"""The settings of a class that declares none: the arguments of its constructor.

So a wrapper of another package, and a class of hooks, is used as it is:
`--plugin gymnasium.wrappers:FilterObservation:filter_keys=[image]`.
"""

from __future__ import annotations

import inspect
from typing import Any

import attrs

from rlk.plain_values import object_in, plain

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@attrs.frozen
class WithSettings:
    """Makes an object from a config of `settings_of`, which comes last; lists become tuples."""

    made_by: Any

    def __call__(self, *arguments: Any) -> Any:
        *others, config = arguments
        given = attrs.asdict(config, recurse=False).items()
        return self.made_by(
            *others, **{key: tuple(value) if type(value) is list else value for key, value in given}
        )


def settings_of(made_by: Any, *, leave_out: int = 0) -> type | None:
    """A config class with a field for every argument of a constructor; None if there are none.

    Left to their defaults are arguments whose names begin with an underscore, and those with a
    default that no file can hold, such as a function.

    Args:
        made_by: the class, or a `functools.partial` of it.
        leave_out: how many arguments at the beginning are no settings: 1, the environment, for a
            wrapper.
    """
    try:
        arguments = list(inspect.signature(made_by).parameters.values())
    except (TypeError, ValueError):  # a class that hides them
        return None
    fields = {
        one.name: attrs.field(
            type=Any, default=attrs.NOTHING if one.default is one.empty else one.default
        )
        for one in arguments[leave_out:]
        if _is_setting(one)
    }
    name = f"{getattr(made_by, '__name__', 'Constructor')}Config"
    return attrs.make_class(name, fields, frozen=True, kw_only=True) if fields else None


def _is_setting(argument: inspect.Parameter) -> bool:
    if argument.kind not in _NAMED or argument.name.startswith("_"):
        return False
    default = argument.default
    return default is argument.empty or object_in(plain(default)) is None
