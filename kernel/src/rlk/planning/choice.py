"""A component in its place in a run, with its settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from rlk.component import Component
from rlk.registry.entry import Entry, Owned
from rlk.registry.hooks import Hooks

#: Kinds whose components answer hooks themselves; others may name what does (`hooks`).
ANSWERING = ("extensions", "callbacks", "loggers")


@attrs.frozen
class Choice(Owned):
    """A component in its place; `name` is its own name, whatever alias it was asked for by."""

    alias: str  #: the name that it was asked for by
    slot: str  #: or its kind, where there may be many
    by: str  #: who chose it: `command line`, `preset zoo`, `algorithm dqn`, …
    component: Component
    config: Any = None  #: an instance of the component's config class, or None
    sources: Mapping[str, str] = attrs.field(factory=dict)  #: who set what is not its own default

    @classmethod
    def of(cls, entry: Entry, slot: str, by: str) -> Choice:
        """What an entry names, not yet configured."""
        component = entry.component()
        return cls(
            entry.kind,
            component.name,
            entry.dist,
            entry.version,
            alias=entry.name,
            slot=slot,
            by=by,
            component=component,
        )

    def make(self, *arguments: Any, **keywords: Any) -> Any:
        """`factory(*arguments, config, **keywords)`; a component without config is given none."""
        if self.config is not None:
            arguments = (*arguments, self.config)
        return self.load()(*arguments, **keywords)

    def load(self) -> Any:
        """Its factory; BrokenPlugin if that cannot be used."""
        return self.factory_of(self.component)

    def make_hooks(self) -> Any:
        """What answers hooks for it in one run, or None."""
        if self.kind in ANSWERING:
            return self.make()
        made_by = self.hooks_of(self.component)
        arguments = () if self.config is None else (self.config,)
        return None if made_by is None else made_by(*arguments)


def activated(choices: Iterable[Choice]) -> Hooks:
    """A new plugin manager with those components that answer hooks, made anew."""
    hooks = Hooks()
    for choice in choices:
        answering = choice.make_hooks()
        if answering is not None:
            hooks.activate(answering, choice.name, choice.owner)
    return hooks
