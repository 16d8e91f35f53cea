"""A component of a run, with its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from rlk import settings
from rlk.component import Component
from rlk.errors import RlkError
from rlk.planning.layers import CALLER, Origin, Rank
from rlk.registry.entry import Entry, Owned
from rlk.registry.external import PASSED, is_code_place
from rlk.registry.hooks import Hooks
from rlk.registry.kinds import is_group_slot, singular

#: Kinds whose components implement hooks themselves; others may name what does (`hooks`).
ANSWERING = ("extensions", "callbacks", "loggers")


@attrs.frozen
class Choice(Owned):
    """A component of a run; `name` is its own name, even if an alias was asked for."""

    alias: str  #: the name that it was asked for by
    origin: Origin  #: who chose it
    component: Component
    #: The slot that it fills: `policy`, `vf_optimiser`, `algorithm`, or `storage` for a decorator,
    #: which is put on what fills that. Empty for one of a list (`LISTS`).
    slot: str = ""
    config: Any = None  #: an instance of the component's config class, or None
    #: Who set what is not its own default.
    sources: Mapping[str, Origin] = attrs.field(factory=dict)

    @classmethod
    def of(cls, entry: Entry, origin: Origin = CALLER, slot: str = "") -> Choice:
        """The component of an entry, not yet configured."""
        component = entry.component()
        return cls(
            entry.kind,
            component.name,
            entry.dist,
            entry.version,
            alias=entry.name,
            origin=origin,
            component=component,
            slot=slot,
        )

    @property
    def role(self) -> str:
        """What it is in a run: the slot that it fills, `decorator`, or `wrapper`, `callback`, ….

        Files have it under this name; unlike `slot`, it tells decorators from a base storage.
        """
        return "decorator" if self.component.stages else self.slot or singular(self.kind)

    @property
    def prefix(self) -> str:
        """The prefix of the keys of its settings; the algorithm's have none."""
        return "" if self.slot == "algorithm" else prefix_of(self.slot, self.name)

    @property
    def configs(self) -> tuple[Any, ...]:
        """The last arguments of its functions: the config, or nothing if there is none."""
        return () if self.config is None else (self.config,)

    @property
    def has_joined(self) -> bool:
        """Whether it joined by itself: nobody asked for it."""
        return self.origin.rank == Rank.DEFAULT

    def changed(self, *names: str) -> list[str]:
        """Those of these settings that somebody has changed from their default.

        Those of a saved plan are not among them: a file has every setting of the run that it was
        saved from, not only those asked for.
        """
        asked = {name for name, origin in self.sources.items() if origin.rank != Rank.SAVED}
        return settings.differing(self.config, (name for name in names if name in asked))

    @property
    def without_it(self) -> str:
        """What to use for a run without it: `no:NAME` is for what is installed or registered."""
        if self.dist == PASSED:
            return "plugins=[…] without it"
        return (
            f"plugins without {self.dist}"
            if is_code_place(self.dist)
            else f"--plugin no:{self.name}"
        )

    def make(self, *arguments: Any, **keywords: Any) -> Any:
        """`factory(*arguments, config, **keywords)`, without config if the component has none.

        Raises:
            BrokenPlugin: if the factory does not take these arguments.
        """
        return self.called(self.load(), *arguments, *self.configs, **keywords)

    def called(self, function: Any, *arguments: Any, **keywords: Any) -> Any:
        """The result of a function of this component; BrokenPlugin if its arguments differ.

        Any exception of the function itself names the component in a note.
        """
        try:
            return function(*arguments, **keywords)
        except RlkError:
            raise
        except Exception as error:
            names = [type(one).__name__ for one in arguments] + [f"{key}=…" for key in keywords]
            called = f"called with ({', '.join(names)})"
            was_entered = error.__traceback__ is None or error.__traceback__.tb_next is not None
            if isinstance(error, TypeError) and not was_entered:
                raise self.broken(f"{called}: {error}") from error
            if not getattr(error, "__notes__", None):  # a component that this one makes comes first
                error.add_note(f"{self.title} raised this, {called}")
            raise

    def load(self) -> Any:
        """Its factory; BrokenPlugin if it cannot be used."""
        return self.factory_of(self.component)

    def make_hooks(self) -> Any:
        """The object that implements its hooks in one run, or None.

        Raises:
            BrokenPlugin: if it cannot be made, or implements a hook that is never called.
        """
        if self.kind in ANSWERING:
            return self.make()
        made_by = self.imported(self.component.hooks)
        made = None if made_by is None else self.called(made_by, *self.configs)
        if self.slot and not self.component.stages and hasattr(made, "rlk_configure"):
            raise self.broken(
                "its hooks have rlk_configure, which is asked of plugins, before it is settled "
                "what fills a slot. Move it to an extension"
            )
        return made


def activated(choices: Iterable[Choice]) -> Hooks:
    """A new plugin manager with new instances of the components that implement hooks."""
    hooks = Hooks()
    for choice in choices:
        answering = choice.make_hooks()
        if answering is not None:
            hooks.activate(answering, choice.name, choice.owner, choice.without_it)
    return hooks


def prefix_of(slot: str, name: str) -> str:
    """The prefix of the keys of a component's settings."""
    return f"{slot if is_group_slot(slot) else name}."
