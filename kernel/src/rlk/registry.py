"""Registries: what is chosen by name. One per kind, filled from entry points and by hand.

Discovery reads the metadata of installed distributions once and imports nothing; a component is
loaded when somebody asks for it. `rlk.registry.storages.register("mine", MyStorage)` adds to the
default kernel's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import attrs

from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, UnknownName

if TYPE_CHECKING:
    from rlk.kernel import Kernel

#: Every kind the kernel knows; plugins may add more with `Registries.add_kind`.
KINDS = (
    "algorithms",
    "policies",
    "distributions",
    "noises",
    "vec_envs",
    "wrappers",
    "storages",
    "serializers",
    "optimisers",
    "callbacks",
    "loggers",
    "extensions",
    "environments",
    "commands",
    "presets",
)


@attrs.define(eq=False)
class Entry:
    """A name that a distribution (or a program) has put into a registry.

    Its component is loaded on demand.
    """

    kind: str
    name: str
    dist: str
    version: str
    _load: Callable[[], Any]
    _component: Component | None = None

    @property
    def owner(self) -> str:
        return f"{self.dist} {self.version}".strip()

    def component(self) -> Component:
        """Loads it.

        Raises:
            BrokenPlugin: if importing it fails, or what it names is no component.
        """
        if self._component is None:
            try:
                loaded = self._load()
            except Exception as error:
                cause = f"{type(error).__name__}: {error}"
                raise BrokenPlugin(f"{self.title()} cannot be loaded: {cause}") from error
            if not isinstance(loaded, Component):
                raise BrokenPlugin(
                    f"{self.title()} names {type(loaded).__name__} {loaded!r:.60}, not an "
                    "rlk.Component."
                )
            self._component = loaded
        return self._component

    def title(self) -> str:
        """`storage 'replay' (rlk-replay 0.1.0)`, as messages call it."""
        return f"{singular(self.kind)} {self.name!r} ({self.owner})"


class Registry:
    """The components of one kind by name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, list[Entry]] = {}

    def add(self, entry: Entry) -> None:
        found = self._entries.setdefault(entry.name, [])
        if not any(other.dist == entry.dist for other in found):
            found.append(entry)

    def register(self, name: str, factory: Any = None, **fields: Any) -> Any:
        """Adds a component by hand; without a factory, a decorator for one.

        Args:
            name: what users will type.
            factory: a class, a function, or a finished Component.
            fields: further fields of the Component (`config=`, `needs=`, …).

        Raises:
            PlanError: if the name is taken in this registry by hand already.
        """
        if factory is None:
            return lambda made: self.register(name, made, **fields) and made
        if isinstance(factory, Component):
            component = attrs.evolve(factory, **fields) if fields else factory
        else:
            component = Component(name=name, factory=factory, **fields)
        if any(entry.dist == "this program" for entry in self._entries.get(name, [])):
            raise PlanError(
                f"{singular(self.kind)} {name!r} is registered by this program already."
            )
        # By hand wins over installed: a program that registers a name means its own.
        self._entries[name] = [Entry(self.kind, name, "this program", "", lambda: component)]
        return factory

    def unregister(self, name: str) -> None:
        """Takes a name out again."""
        self._entries.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[Entry]:
        for name in sorted(self._entries):
            yield from self._entries[name]

    def names(self) -> list[str]:
        return sorted(self._entries)

    def get(self, name: str) -> Entry:
        """The entry of that name.

        Raises:
            UnknownName: if there is none.
            BrokenPlugin: if two distributions give the name.
        """
        found = self._entries.get(name)
        if not found:
            raise UnknownName(singular(self.kind), name, self.names(), "See: rlk plugins list")
        if len(found) > 1:
            raise clash(name, found)
        return found[0]


class Registries:
    """All registries of a kernel, as attributes by kind: `registries.storages`."""

    def __init__(self) -> None:
        self._by_kind = {kind: Registry(kind) for kind in KINDS}

    def add_kind(self, kind: str) -> Registry:
        """A kind of a plugin's own; its entry-point group is `rlk.<kind>`."""
        return self._by_kind.setdefault(kind, Registry(kind))

    def __getitem__(self, kind: str) -> Registry:
        return self._by_kind[kind]

    def __getattr__(self, kind: str) -> Registry:
        try:
            return self.__dict__["_by_kind"][kind]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(
                f"there is no registry {kind!r}; kinds: {', '.join(KINDS)}"
            ) from None

    def __iter__(self) -> Iterator[Registry]:
        return iter(self._by_kind.values())

    def find(self, name: str, kinds: Iterable[str] | None = None) -> Entry:
        """The entry of that name in any kind: names are unique across kinds.

        Raises:
            UnknownName, BrokenPlugin: as `Registry.get`.
        """
        wanted = list(kinds) if kinds is not None else list(self._by_kind)
        found = [entry for kind in wanted for entry in self._by_kind[kind]._entries.get(name, [])]
        if not found:
            known = [known for kind in wanted for known in self._by_kind[kind].names()]
            raise UnknownName("plugin", name, known, "See: rlk plugins list")
        by_hand = [entry for entry in found if entry.dist == "this program"]
        if len(found) > 1 and len(by_hand) != 1:
            raise clash(name, found)
        return by_hand[0] if by_hand else found[0]

    def clashes(self) -> dict[str, list[Entry]]:
        """Names that more than one distribution, or more than one kind, gives."""
        by_name: dict[str, list[Entry]] = {}
        for registry in self:
            for entry in registry:
                by_name.setdefault(entry.name, []).append(entry)
        return {name: found for name, found in by_name.items() if len(found) > 1}

    def discover(self) -> None:
        """One scan of the installed distributions' entry points; imports nothing of theirs."""
        import importlib_metadata

        for dist in importlib_metadata.distributions():
            points = [point for point in dist.entry_points if point.group.startswith("rlk.")]
            if not points:
                continue
            name, version = dist.metadata["Name"], dist.version
            for point in points:
                kind = point.group.removeprefix("rlk.")
                self.add_kind(kind).add(Entry(kind, point.name, name, version, point.load))


def clash(name: str, entries: list[Entry]) -> BrokenPlugin:
    """The error for a name that is not one component's alone."""
    owners = ", ".join(sorted(f"{singular(e.kind)} of {e.owner}" for e in entries))
    return BrokenPlugin(
        f"{name!r} is given by {len(entries)} packages: {owners}. Uninstall all but one."
    )


def singular(kind: str) -> str:
    """`storages` -> `storage`, `policies` -> `policy`, as messages need it."""
    return kind[:-3] + "y" if kind.endswith("ies") else kind.replace("_", "-").removesuffix("s")


def __getattr__(kind: str) -> Registry:
    """`rlk.registry.storages`: the default kernel's registry of that kind."""
    if kind.startswith("_"):
        raise AttributeError(kind)
    from rlk.kernel import default_kernel

    kernel: Kernel = default_kernel()
    registry: Registry = getattr(kernel.registries, kind)
    return registry
