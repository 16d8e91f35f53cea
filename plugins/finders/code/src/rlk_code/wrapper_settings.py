"""The settings of a Gymnasium wrapper: what its constructor takes besides the environment.

So a wrapper of another package is used as it is:
`--plugin gymnasium.wrappers:FilterObservation:filter_keys=[image]`.
"""

from __future__ import annotations

import inspect
from typing import Any

import attrs

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@attrs.frozen
class WithSettings:
    """Makes a wrapper from an environment and a config of `settings_of`; lists become tuples."""

    wrapper: Any

    def __call__(self, env: Any, config: Any) -> Any:
        given = attrs.asdict(config, recurse=False).items()
        return self.wrapper(
            env, **{key: tuple(value) if type(value) is list else value for key, value in given}
        )


def settings_of(wrapper: Any) -> type | None:
    """A config class with a field for every further argument; None if there are none.

    Arguments whose names begin with an underscore are left to their defaults.
    """
    try:
        _, *further = inspect.signature(wrapper).parameters.values()
    except (TypeError, ValueError):  # no arguments at all, or a class that hides them
        return None
    fields = {
        one.name: attrs.field(
            type=Any, default=attrs.NOTHING if one.default is one.empty else one.default
        )
        for one in further
        if one.kind in _NAMED and not one.name.startswith("_")
    }
    name = f"{getattr(wrapper, '__name__', 'Wrapper')}Config"
    return attrs.make_class(name, fields, frozen=True, kw_only=True) if fields else None
