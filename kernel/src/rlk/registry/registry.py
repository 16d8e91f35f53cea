"""The components of one kind, by name."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar, overload

import attrs

from rlk.component import Component, check_name
from rlk.errors import SHOWN, BrokenPlugin, PlanError, UnknownName, nearest
from rlk.registry.entry import Entry
from rlk.registry.kinds import singular, why_unusable

Made = TypeVar("Made")
#: A class with its module, as `import` and the zoo of Stable-Baselines3 write it.
_DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.\w+)*)\.([A-Z]\w*)")
#: The owner of components that a program has registered itself.
BY_HAND = "this program"


class Registry:
    """The components of one kind, by name."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.entries: dict[str, dict[str, Entry]] = {}  # by name, then by distribution

    def __repr__(self) -> str:
        return f"<Registry of {self.kind}: {', '.join(self.names()) or 'empty'}>"

    def add(self, entry: Entry) -> None:
        """Add the entry of a distribution; one that is found twice counts once."""
        self.entries.setdefault(entry.name, {}).setdefault(entry.dist, entry)

    @overload
    def register(self, name: str, factory: Made, **fields: Any) -> Made: ...
    @overload
    def register(self, name: str, **fields: Any) -> Callable[[Made], Made]: ...
    def register(self, name: str, factory: Any = None, **fields: Any) -> Any:
        """Add a component by hand; it wins over an installed one of the same name.

        A new version of what the program has registered by that name replaces it: the same class
        or function, or one of the same name in the same module, as a notebook's cell defines it
        when it runs again. Agents keep the version that they were made with.

        Args:
            name: what users type.
            factory: a class, a function or a finished Component; without one, this is a decorator.
            fields: further fields of the Component (`config=`, `needs=`, …).

        Raises:
            ValueError: for a text that cannot be a name.
            PlanError: if the program has registered something else by that name, a component of
                this kind cannot have it, or a finished one is of another kind.
        """
        if factory is None:
            return lambda made: self.register(name, made, **fields) and made
        check_name("name", name)
        if isinstance(factory, Component):
            component = attrs.evolve(factory, **fields) if fields else factory
        else:
            component = Component(name=name, factory=factory, **fields)
        self._refuse_unusable(name, component)
        self._refuse_another(name, component)
        entry = Entry(self.kind, name, BY_HAND, "", lambda: component)
        self.entries.setdefault(name, {})[BY_HAND] = entry
        return factory

    def _refuse_another(self, name: str, component: Component) -> None:
        """PlanError if the program has registered something else by that name."""
        old = self.entries.get(name, {}).get(BY_HAND)
        if old is not None and not redefines(component.factory, old.component().factory):
            raise PlanError(
                f"{singular(self.kind)} {name!r} is registered by {BY_HAND} already, and is "
                f"something else: {old.component().factory!r:.80}. Register yours by another name, "
                f"or first remove that: rlk.registry.{self.kind}.unregister({name!r})"
            )

    def _refuse_unusable(self, name: str, component: Component) -> None:
        """PlanError for a component that no run could use under that name and with this kind."""
        for one in (name, component.name):
            if (why := why_unusable(one, self.kind)) is not None:
                raise PlanError(f"{singular(self.kind)} {name!r} cannot be registered: {why}.")
        if component.kind not in (None, self.kind):
            raise PlanError(
                f"component {name!r} says kind={component.kind!r}, but this is the registry of "
                f"{self.kind}. Use rlk.registry.{component.kind}.register({name!r}, …)."
            )

    def unregister(self, name: str) -> None:
        """Remove the component that the program has registered under a name, if there is one."""
        found = self.entries.get(name, {})
        found.pop(BY_HAND, None)
        if not found:
            self.entries.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __iter__(self) -> Iterator[Entry]:
        """Every entry; for a name that the program has registered, only that one."""
        for name in self.names():
            yield from self.named(name)

    def named(self, name: str) -> list[Entry]:
        """The entries of that name: several only if distributions clash; see `__iter__`."""
        found = self.entries.get(name, {})
        return [found[BY_HAND]] if BY_HAND in found else list(found.values())

    def names(self) -> list[str]:
        """Every name, sorted."""
        return sorted(self.entries)

    def get(self, name: str) -> Entry:
        """The entry of that name.

        Raises:
            UnknownName: if there is none.
            BrokenPlugin: if two distributions provide it.
        """
        if name not in self:
            hint = f"See: rlk plugins list --kind {self.kind.replace('_', '-')}"
            raise unknown(singular(self.kind), name, self, hint)
        return only_one(name, self.named(name))

    def ask(self, what: str, name: str, *more: Any) -> tuple[Entry, Any]:
        """The first component that resolves a name, and its answer.

        This is for kinds whose components are functions of a name (`protocols.NameSource`), which
        return None for names of others. Components that a program registered come first. Those
        that run the code at a place come last, because they may take any `module:Object`. A broken
        component is not asked, and is named only in the error for a name that no other resolves.

        Args:
            what: the kind of thing that the name stands for, for the error (`environment`).
            name: passed to every function, with `more`.

        Raises:
            PlanError: if no component resolves it.
        """
        found = next(self.answers(name, *more), None)
        if found is None:
            raise self.unanswered(what, name)
        return found

    def unanswered(self, what: str, name: str) -> PlanError:
        """The error for a name that no component resolves; `what` is as in `ask`."""
        sources = self._sources()
        asked = [f"{entry.name} ({entry.component().summary})" for entry, _ in sources]
        if len(asked) > SHOWN:
            names = [entry.name for entry, _ in sources[:SHOWN]]
            asked = [*names, f"{len(asked) - SHOWN} more (rlk plugins list --kind {self.kind})"]
        hint = f"Asked {self.kind}: {', '.join(asked) or 'none; a plugin of that kind is missing'}."
        hint = " ".join([*self._faults(), hint])
        known = [one for _, source in sources for one in _known(source)]
        if not nearest(name, known):
            advice = (_advice(source, name) for _, source in sources)
            hint = " ".join([*filter(None, advice), hint])
        if known:
            return UnknownName(what, name, known, hint)
        return PlanError(f"unknown {what} {name!r}. {hint}")

    def answers(self, name: str, *more: Any) -> Iterator[tuple[Entry, Any]]:
        """Every component that resolves a name, and its answer; see `ask`."""
        for entry, source in self._sources():
            answer = source(name, *more)
            if answer is not None:
                yield entry, answer

    def _sources(self) -> list[tuple[Entry, Any]]:
        """Every component that can be used, with its factory, in the order of asking."""
        found = []
        for entry in self:
            with contextlib.suppress(BrokenPlugin):
                found.append((entry, entry.load()))
        return sorted(found, key=lambda one: (one[0].dist != BY_HAND, one[0].component().runs_code))

    def _faults(self) -> Iterator[str]:
        """Why components cannot be used, one sentence for each broken one."""
        for entry in self:
            try:
                entry.load()
            except BrokenPlugin as error:
                yield str(error)


def only_one(name: str, named: list[Entry]) -> Entry:
    """Of the entries of that name the only one, or the one that the program has registered.

    Raises:
        BrokenPlugin: if several distributions provide it.
    """
    wanted = [entry for entry in named if entry.dist == BY_HAND] or named
    if len(wanted) > 1:
        raise clash(name, wanted)
    return wanted[0]


def unknown(what: str, name: str, entries: Iterable[Entry], hint: str) -> UnknownName:
    """The error for a name that none of these entries has.

    It suggests the component that other libraries call by that name, with or without the module of
    a class; for another class with its module, how rlk names its place; else similar names.

    Args:
        what: the kind of thing that the name should stand for (`storage`).
        name: the unknown name.
        entries: those that it may mean.
        hint: what to type to list them.
    """
    entries = list(entries)
    there = name.rpartition(".")[2]
    meant = [*dict.fromkeys(entry.name for entry in entries if there in _known_as(entry))]
    if not meant and (place := dotted_class(name)):
        meant = [place]
    return UnknownName(what, name, {entry.name for entry in entries}, hint, meant)


def dotted_class(text: Any) -> str | None:
    """`module:Class` for the place of a class that is written with dots alone, else None."""
    found = _DOTTED.fullmatch(text) if isinstance(text, str) else None
    return f"{found[1]}:{found[2]}" if found else None


def _known_as(entry: Entry) -> tuple[str, ...]:
    """Its names in other libraries; none if it is broken."""
    try:
        return entry.component().known_as
    except BrokenPlugin:
        return ()


def clash(name: str, entries: list[Entry]) -> BrokenPlugin:
    """The error for a name that several distributions provide."""
    owners = ", ".join(sorted(f"{singular(entry.kind)} of {entry.owner}" for entry in entries))
    if all(entry.dist == BY_HAND for entry in entries):
        undo = " or ".join(f"rlk.registry.{entry.kind}.unregister({name!r})" for entry in entries)
        return BrokenPlugin(f"{name!r} is registered {len(entries)} times: {owners}. Use {undo}.")
    packages = {entry.dist for entry in entries}
    if len(packages) == 1:
        return BrokenPlugin(
            f"{name!r} is given {len(entries)} times by one package: {owners}. Names are unique "
            "across kinds: its authors have to rename all but one."
        )
    return BrokenPlugin(
        f"{name!r} is given by {len(packages)} packages: {owners}. Uninstall all but one."
    )


def _known(source: Any) -> list[str]:
    """The names that a source lists for messages, if it lists any."""
    from rlk.abilities import ListsNames, offers  # not at the top: only an error needs it

    return list(source.known()) if offers(source, ListsNames) else []


def _advice(source: Any, name: str) -> str:
    """What a source says about a name that nobody resolved, if it says anything."""
    from rlk.abilities import AdvisesOnNames, offers  # as above

    return source.advice(name) if offers(source, AdvisesOnNames) else ""


def redefines(new: Any, old: Any) -> bool:
    """Whether both are the same, or have the same place in the source of the program.

    A cell of a notebook that runs again, and a module that is reloaded, define everything anew.
    Lambdas, partials and what a function makes have none: several different ones may be called
    alike, and each redefines only itself.
    """
    return new is old or (_place(new) is not None and _place(new) == _place(old))


def _place(made: Any) -> str | None:
    """`module:Class`, which may also stand for the object itself, as in `Component.factory`."""
    if isinstance(made, str):
        return made
    name = getattr(made, "__qualname__", "<")
    return None if "<" in name else f"{made.__module__}:{name}"
