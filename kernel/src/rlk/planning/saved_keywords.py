"""The keywords of an environment in files; JSON has no tuples, so a file says where they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rlk.plain_values import plain

#: Where a value is in the keywords: the keys and indices that lead to it, the keyword first.
KeyPath = list[Any]

_WINDOW = ("render_mode", "human")


def plain_keywords(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords in JSON's types, without one for a window: no saved run opens one by itself."""
    found: dict[str, Any] = plain(keywords)
    return {key: value for key, value in found.items() if (key, value) != _WINDOW}


def tuples_in(value: Any, here: Sequence[Any] = ()) -> Iterator[KeyPath]:
    """Where each tuple is in a value of keywords."""
    if isinstance(value, tuple):
        yield [*here]
    if isinstance(value, (Mapping, list, tuple)):
        parts = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, part in parts:
            yield from tuples_in(part, (*here, key))


def with_tuples(value: Any, paths: Sequence[KeyPath], here: Sequence[Any] = ()) -> Any:
    """A value in JSON's types with a tuple at each of these paths."""
    if isinstance(value, Mapping):
        return {key: with_tuples(part, paths, (*here, key)) for key, part in value.items()}
    if isinstance(value, list):
        parts = [with_tuples(part, paths, (*here, i)) for i, part in enumerate(value)]
        return tuple(parts) if [*here] in paths else parts
    return value
