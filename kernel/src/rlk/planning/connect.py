"""Connects the processes that share a run, before any of them can be refused.

The others would wait for ever for one that was refused alone. So what connects them
(`Component.connects`) is called before any name or setting of the request is judged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from operator import itemgetter

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.draft import leaves_out
from rlk.planning.parse import parse_plugin
from rlk.planning.spec import RunSpec
from rlk.registry.kinds import SLOTS, slot_of
from rlk.registry.registries import Registries


def connect(spec: RunSpec, registries: Registries) -> None:
    """Call what connects processes for every component that the request names.

    Raises:
        PlanError: if the processes cannot connect.
    """
    connect_named(_asked(spec), registries)


def connect_named(asked: Iterable[str], registries: Registries) -> None:
    """The same for components as they are typed; of two in one slot, the later one counts."""
    for choice in _named(asked, registries):
        connects = choice.imported(choice.component.connects)
        if connects is not None:
            choice.called(connects)


def _named(asked: Iterable[str], registries: Registries) -> list[Choice]:
    """The registered components of these names that none leaves out; one for each slot."""
    found: dict[str, Choice] = {}
    for one in asked:
        with contextlib.suppress(PlanError):  # planning refuses it when its turn comes
            name, _ = parse_plugin(one)
            if leaves_out(name):
                gone = registries.own_name(name.removeprefix("no:"))
                found = {key: choice for key, choice in found.items() if choice.name != gone}
            elif name in registries:
                choice = Choice.of(registries.find(name))
                found[slot_of(choice.kind) or choice.name] = choice
    return list(found.values())


def _asked(spec: RunSpec) -> list[str]:
    """What is asked for by name in slots and as plugins; the user's wishes after those of files."""
    asked = [(setting.rank, setting.value) for key, setting in spec.settings() if key in SLOTS]
    asked += [(origin.rank, plugin) for plugin, origin in spec.asked_plugins()]
    return [one for _, one in sorted(asked, key=itemgetter(0)) if isinstance(one, str)]
