"""The kernel: what is chosen by name, a registry per kind, filled from entry points and by hand.

Discovery reads the metadata of installed distributions once and imports nothing; a component is
loaded when somebody asks for it. `rlk.registry.storages.register("mine", MyStorage)` adds to the
default kernel's."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import attrs

from rlk.component import Component
from rlk.errors import BrokenPlugin, PlanError, UnknownName
from rlk.planning.spec import LISTS, SLOTS
from rlk.registry.discovery import entry_points
from rlk.registry.hooks import Hooks

#: Every kind the kernel knows; plugins may add more with `Registries.add_kind`.
KINDS = ("algorithms", *SLOTS.values(), *LISTS, "environments", "finders", "commands", "presets")
BY_HAND = "this program"


@attrs.frozen
class Owned:
    """What messages call a component: `storage 'replay' (rlk-replay 0.1.0)`."""

    kind: str
    name: str
    dist: str
    version: str

    @property
    def owner(self) -> str:
        return f"{self.dist} {self.version}".strip()

    @property
    def title(self) -> str:
        return f"{singular(self.kind)} {self.name!r} ({self.owner})"

    def factory_of(self, component: Component) -> Any:
        """Its component's factory, imported now; BrokenPlugin if it cannot be, or is a class that
        lacks a method of its kind."""
        try:
            factory = component.load()
        except Exception as error:
            cause = f"{type(error).__name__}: {error}"
            raise BrokenPlugin(f"{self.title} is broken: {cause}.") from error
        if isinstance(factory, type):
            from rlk import protocols

            lacks = protocols.methods(self.kind, component.stages) - protocols.members(factory)
            lacks |= getattr(factory, "__abstractmethods__", frozenset())
            if lacks:
                what = f"{component.factory} lacks {', '.join(sorted(lacks))}"
                every = f"which every one of {self.kind} has"
                raise BrokenPlugin(f"{self.title} is broken: {what}, {every}.")
        return factory


@attrs.frozen(eq=False)
class Entry(Owned):
    """A name that a distribution (or a program) has put into a registry."""

    _load: Callable[[], Any]
    _loaded: list[Component] = attrs.field(factory=list)

    def component(self) -> Component:
        """The component, loaded when first asked for; BrokenPlugin if that cannot be done."""
        if not self._loaded:
            try:
                loaded = self._load()
            except Exception as error:
                cause = f"{type(error).__name__}: {error}"
                raise BrokenPlugin(f"{self.title} is broken: {cause}.") from error
            if not isinstance(loaded, Component):
                found = f"{type(loaded).__name__} {loaded!r:.60}"
                raise BrokenPlugin(f"{self.title} names {found}, not an rlk.Component.")
            self._loaded.append(loaded)
        return self._loaded[0]

    def load(self) -> Any:
        """Its factory; BrokenPlugin if that cannot be used."""
        return self.factory_of(self.component())


class Registry:
    """The components of one kind by name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.entries: dict[str, dict[str, Entry]] = {}  # by name, then by distribution

    def add(self, entry: Entry) -> None:
        self.entries.setdefault(entry.name, {}).setdefault(entry.dist, entry)

    def register(self, name: str, factory: Any = None, **fields: Any) -> Any:
        """Adds a component by hand (a class, a function, or a finished Component), with further
        fields of a Component (`config=`, …); without a factory, a decorator for one."""
        if factory is None:
            return lambda made: self.register(name, made, **fields) and made
        if BY_HAND in self.entries.get(name, {}):
            raise PlanError(f"{singular(self.kind)} {name!r} is registered by {BY_HAND} already.")
        if isinstance(factory, Component):
            component = attrs.evolve(factory, **fields) if fields else factory
        else:
            component = Component(name=name, factory=factory, **fields)
        # By hand wins over installed: a program that registers a name means its own.
        self.entries[name] = {BY_HAND: Entry(self.kind, name, BY_HAND, "", lambda: component)}
        return factory

    def unregister(self, name: str) -> None:
        self.entries.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[Entry]:
        return (entry for name in self.names() for entry in self.entries[name].values())

    def names(self) -> list[str]:
        return sorted(self.entries)

    def get(self, name: str) -> Entry:
        """The entry of that name; an error if there is none, or two distributions give it."""
        return _only(singular(self.kind), name, [self])

    def ask(self, what: str, name: str, *more: Any) -> tuple[Entry, Any]:
        """The first component that answers to a name, and its answer; a PlanError, which says
        `what`, if none does. For kinds whose components are functions of a name (and `more`), which
        return None for what is not theirs; those that a program registered come first."""
        sources = {
            entry: entry.component().load()
            for entry in sorted(self, key=lambda e: e.dist != BY_HAND)
        }
        for entry, source in sources.items():
            if (answer := source(name, *more)) is not None:
                return entry, answer
        known = [one for source in sources.values() for one in getattr(source, "known", tuple)()]
        asked = ", ".join(f"{entry.name} ({entry.component().summary})" for entry in sources)
        hint = f"Asked {self.kind}: {asked or 'none; a plugin of that kind is missing'}."
        if known:
            raise UnknownName(what, name, known, hint)
        raise PlanError(f"unknown {what} {name!r}. {hint}")


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
        if kind == "_by_kind" or kind not in self._by_kind:
            raise AttributeError(f"there is no registry {kind!r}; kinds: {', '.join(KINDS)}")
        return self._by_kind[kind]

    def __iter__(self) -> Iterator[Registry]:
        return iter(self._by_kind.values())

    def find(self, name: str) -> Entry:
        """The entry of that name in any kind: names are unique across kinds."""
        return _only("plugin", name, list(self))

    def discover(self) -> None:
        """One scan of the installed distributions' entry points; imports nothing of theirs."""
        for point in entry_points():
            entry = Entry(point.kind, point.name, point.dist, point.version, point.load)
            self.add_kind(point.kind).add(entry)


def _only(what: str, name: str, registries: list[Registry]) -> Entry:
    """The one entry of that name; one that a program registered wins over installed ones."""
    entries = [entry for registry in registries for entry in registry]
    found = [entry for entry in entries if entry.name == name]
    if not found:
        raise UnknownName(what, name, {entry.name for entry in entries}, "See: rlk plugins list")
    wanted = [entry for entry in found if entry.dist == BY_HAND] or found
    if len(wanted) > 1:
        raise clash(name, found)
    return wanted[0]


def clash(name: str, entries: list[Entry]) -> BrokenPlugin:
    """The error for a name that is not one component's alone."""
    owners = ", ".join(sorted(f"{singular(e.kind)} of {e.owner}" for e in entries))
    given = f"{name!r} is given by {len(entries)} packages"
    return BrokenPlugin(f"{given}: {owners}. Uninstall all but one.")


def singular(kind: str) -> str:
    """`storages` -> `storage`, `policies` -> `policy`, as messages need it."""
    return kind[:-3] + "y" if kind.endswith("ies") else kind.replace("_", "-").removesuffix("s")


class Kernel:
    """Registries of components, and who answers `rlk_register` (every run has hooks of its own).
    Without `discover` it is empty, to be filled by hand."""

    def __init__(self, discover: bool = True) -> None:
        self.registries = Registries()
        self.hooks = Hooks()
        self.hooks.historic("rlk_register", kernel=self)
        if discover:
            self.registries.discover()

    def activate(self, plugin: object, name: str | None = None) -> None:
        """Lets a plugin join the kernel: its `rlk_register` is called with it, now."""
        self.hooks.activate(plugin, name or type(plugin).__name__)


@cache
def default_kernel() -> Kernel:
    """The kernel of the command line and of `rlk.make`, with everything that is installed."""
    return Kernel()
