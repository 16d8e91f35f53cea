"""The entries of a registry: each names a component, which is loaded when first used."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import attrs

from rlk.component import STAGES, Component, imported
from rlk.errors import BrokenPlugin, described
from rlk.registry.kinds import singular, why_unusable

#: The kinds whose components are asked whether they have a state (`rlk.protocols.Stateful`).
_MAY_BE_STATEFUL = ("algorithms", "noises")
#: By kind, what to do with a class that is easily passed instead of a component.
_MISTAKEN = {
    "policies": ". A torch.nn.Module is a part of a policy, a setting: docs/custom-policies.md",
}


@attrs.frozen
class Owned:
    """A component's identity, as messages show it: `storage 'replay' (rlk-replay 0.1.0)`."""

    kind: str
    name: str
    dist: str
    version: str

    @property
    def owner(self) -> str:
        return f"{self.dist} {self.version}".strip()

    @property
    def requirement(self) -> str:
        """What pip installs it by, with this version; only if it has a version."""
        return f"{self.dist}=={self.version}"

    @property
    def title(self) -> str:
        return f"{singular(self.kind)} {self.name!r} ({self.owner})"

    def broken(self, problem: str) -> BrokenPlugin:
        """The error for a component that cannot be used."""
        return BrokenPlugin(f"{self.title} is broken: {problem}.")

    def not_imported(self, error: Exception) -> BrokenPlugin:
        """The error for a part that cannot be imported, maybe because requirements are not met."""
        from rlk.registry.requirements import unmet  # not at the top: only an error needs it

        phrases = unmet(self.dist)
        update = [f"{'; '.join(phrases)}. Type: pip install -U {self.dist}"] if phrases else []
        return self.broken(". ".join([described(error), *update]))

    def factory_of(self, component: Component) -> Any:
        """Import its component's factory.

        Raises:
            BrokenPlugin: if it cannot be imported, or is a class that lacks a method of its kind.
        """
        factory = self.imported(component.factory)
        if isinstance(factory, type):
            missing = _missing_methods(factory, self.kind, tuple(component.stages))
            if missing:
                raise self.broken(
                    f"{component.factory} lacks {', '.join(sorted(missing))}, "
                    f"which all {self.kind} must have{_advice(factory, self.kind)}"
                )
            if _has_half_a_state(factory, self.kind):
                raise self.broken(
                    f"{component.factory} has one of state_dict and load_state_dict. Write both, "
                    "or neither if it has no state"
                )
        return factory

    def imported(self, target: str | Callable[..., Any] | None) -> Any:
        """`rlk.component.imported` of a field of its component; BrokenPlugin if that fails."""
        try:
            return imported(target)
        except Exception as error:
            raise self.not_imported(error) from error


@attrs.frozen(eq=False)
class Entry(Owned):
    """A name that a distribution (or a program) has put into a registry."""

    _load: Callable[[], Any] = attrs.field(repr=False)
    _loaded: list[Component] = attrs.field(factory=list, repr=False)

    def component(self) -> Component:
        """The component, loaded when first used.

        Raises:
            BrokenPlugin: if it cannot be imported, is not a component, or cannot have its name.
        """
        if not self._loaded:
            self._loaded.append(self._load_component())
        return self._loaded[0]

    def load(self) -> Any:
        """The factory of its component; BrokenPlugin if it cannot be used."""
        return self.factory_of(self.component())

    def _load_component(self) -> Component:
        try:
            loaded = self._load()
        except Exception as error:
            raise self.not_imported(error) from error
        if not isinstance(loaded, Component):
            found = f"{type(loaded).__name__} {loaded!r:.60}"
            raise BrokenPlugin(f"{self.title} names {found}, not an rlk.Component.")
        for name in (loaded.name, self.name):
            if (why := why_unusable(name, self.kind)) is not None:
                raise self.broken(why)
        return loaded


def _advice(factory: type, kind: str) -> str:
    """What to do about a class that lacks methods of its kind, if that is known."""
    taken = tuple(stage for stage in STAGES if hasattr(factory, stage))
    if kind == "storages" and taken:
        return f". A decorator says which stages it takes: rlk.Component(…, stages={taken!r})"
    return _MISTAKEN.get(kind, "")


@cache
def _missing_methods(factory: type, kind: str, stages: tuple[str, ...]) -> frozenset[str]:
    """The methods that a class lacks, of its kind or of its own abstract base.

    The result is cached, because a run asks for each of its factories several times.
    """
    from rlk import required_methods  # not at the top: what only lists components starts without it

    wanted = required_methods.methods(kind, stages)
    abstract: frozenset[str] = getattr(factory, "__abstractmethods__", frozenset())
    return abstract.union(wanted - required_methods.members(factory))


@cache
def _has_half_a_state(factory: type, kind: str) -> bool:
    """Whether it has one of the two methods of a state, which would be lost without a word."""
    from rlk import protocols, required_methods  # as above

    has = [hasattr(factory, name) for name in required_methods.names_of(protocols.Stateful)]
    return kind in _MAY_BE_STATEFUL and any(has) and not all(has)
