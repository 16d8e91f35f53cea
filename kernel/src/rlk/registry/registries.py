"""The registries of all kinds, and the scan of installed distributions that fills them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from rlk.errors import BrokenPlugin
from rlk.registry.discovery import entry_points
from rlk.registry.entry import Entry
from rlk.registry.kinds import KINDS
from rlk.registry.registry import Registry, only_one, unknown


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
            kinds = ", ".join(vars(self).get("_by_kind", KINDS))
            raise AttributeError(f"there is no registry {kind!r}; kinds: {kinds}")
        return self._by_kind[kind]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._by_kind]

    def __repr__(self) -> str:
        return f"<Registries: {', '.join(self._by_kind)}>"

    def __iter__(self) -> Iterator[Registry]:
        return iter(self._by_kind.values())

    def __contains__(self, name: str) -> bool:
        """Whether a component of any kind has that name."""
        return any(name in registry for registry in self)

    def every_entry(self) -> Iterator[Entry]:
        """Every entry, kind by kind."""
        return (entry for registry in self for entry in registry)

    def own_name(self, name: str) -> str:
        """The own name of the component that is installed under this name.

        `param-noise` is an alias of `adaptive-parameter-noise`. A component is loaded only if its
        distribution has another entry of its kind, which may be an alias; the name of a broken or
        missing component is returned unchanged.
        """
        for registry in self:
            entry = next(iter(registry.named(name)), None)
            if entry is not None and any(_may_be_the_same(entry, one) for one in registry):
                with contextlib.suppress(BrokenPlugin):
                    return entry.component().name
        return name

    def find(self, name: str, *, guess_commands: bool = True) -> Entry:
        """The entry of that name in any kind: names are unique across kinds.

        Args:
            name: what was typed.
            guess_commands: whether an unknown name may be a misspelt command; a run has none.

        Raises:
            UnknownName: if there is none.
            BrokenPlugin: if several distributions provide it.
        """
        named = [entry for registry in self for entry in registry.named(name)]
        if not named:
            every = (one for one in self.every_entry() if guess_commands or one.kind != "commands")
            raise unknown("plugin", name, every, "See: rlk plugins list")
        return only_one(name, named)

    def discover(self) -> None:
        """Scan the entry points of installed distributions once, without importing any."""
        for point in entry_points():
            entry = Entry(point.kind, point.name, point.dist, point.version, point.load)
            self.add_kind(point.kind).add(entry)


def _may_be_the_same(one: Entry, other: Entry) -> bool:
    return one.dist == other.dist and one.name != other.name
