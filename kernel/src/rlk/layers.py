"""Layers of settings by dotted key, weakest first: who said what, and whose word counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: value, and who said it.
Said = tuple[Any, str]


class Layers:
    """An ordered list of mappings, each with its source; for every key the last one wins."""

    def __init__(self) -> None:
        self._layers: list[tuple[str, dict[str, Any]]] = []

    def add(self, source: str, values: Mapping[str, Any]) -> None:
        """A layer on top of all others."""
        self._layers.append((source, dict(values)))

    def find(self, key: str) -> Said:
        """The value that counts and who said it; (None, "") if nobody did."""
        for source, values in reversed(self._layers):
            if key in values:
                return values[key], source
        return None, ""

    def __iter__(self) -> Iterator[tuple[str, Any, str]]:
        """(key, value, source) of everything that was said, weakest first."""
        for source, values in self._layers:
            for key, value in values.items():
                yield key, value, source

    def under(self, prefix: str) -> dict[str, Said]:
        """What was said under `prefix.`, by the rest of the key."""
        start = f"{prefix}."
        return {
            key.removeprefix(start): (value, source)
            for key, value, source in self
            if key.startswith(start)
        }


def is_users(source: str) -> bool:
    """Whether the user said it, and not a preset, a plugin or a default."""
    return not source.startswith(("preset ", "plugin ", "algorithm ", "default"))
