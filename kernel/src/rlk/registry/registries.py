"""The registries of all kinds, and the scan of what is installed that fills them."""

from __future__ import annotations

from collections.abc import Iterator

from rlk.registry.discovery import entry_points
from rlk.registry.entry import Entry
from rlk.registry.kinds import KINDS
from rlk.registry.registry import Registry, only_entry


class Registries:
    """All registries of a kernel, as attributes by kind: `registries.storages`."""

    def __init__(self) -> None:
        self._by_kind = {kind: Registry(kind) for kind in KINDS}

    def add_kind(self, kind: str) -> Registry:
        """The registry of a plugin's own kind; its entry-point group is `rlk.<kind>`."""
        return self._by_kind.setdefault(kind, Registry(kind))

    def __getitem__(self, kind: str) -> Registry:
        return self._by_kind[kind]

    def __getattr__(self, kind: str) -> Registry:
        if kind == "_by_kind" or kind not in self._by_kind:
            raise AttributeError(f"there is no registry {kind!r}; kinds: {', '.join(KINDS)}")
        return self._by_kind[kind]

    def __iter__(self) -> Iterator[Registry]:
        return iter(self._by_kind.values())

    def find(self, name: str) -> Entry:
        """The entry of that name in any kind: names are unique across kinds.

        Raises:
            UnknownName: if there is none.
            BrokenPlugin: if several distributions give it.
        """
        every = (entry for registry in self for entry in registry)
        return only_entry("plugin", name, every, "See: rlk plugins list")

    def discover(self) -> None:
        """Scan the installed distributions' entry points once; nothing of theirs is imported."""
        for point in entry_points():
            entry = Entry(point.kind, point.name, point.dist, point.version, point.load)
            self.add_kind(point.kind).add(entry)
