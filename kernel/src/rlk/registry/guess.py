"""The kind of a component, guessed from the methods of its class."""

from __future__ import annotations

from typing import Any

#: Methods of a class, and the kind that they show; the first match counts.
_METHODS = (
    ({"open", "add", "state_dict"}, "storages"),
    ({"open", "added"}, "storages"),
    ({"update", "batches"}, "algorithms"),
    ({"sample", "log_prob"}, "distributions"),
    ({"step", "reset"}, "wrappers"),
    ({"build"}, "policies"),
)


def guessed_kind(found: Any) -> str | None:
    """The kind of a class, or of a class with arguments (`functools.partial`); None if unclear."""
    made = getattr(found, "func", found)
    can = set(dir(made))
    if any(name.startswith("rlk_") for name in can):
        return "extensions"
    kind = next((kind for methods, kind in _METHODS if methods <= can), None)
    return "environments" if kind == "wrappers" and _is_environment(made) else kind


def _is_environment(found: Any) -> bool:
    """Whether it is a class of environments that wraps none."""
    import gymnasium as gym  # not at the top: what only lists components starts without it

    is_class = isinstance(found, type)
    return is_class and issubclass(found, gym.Env) and not issubclass(found, gym.Wrapper)
