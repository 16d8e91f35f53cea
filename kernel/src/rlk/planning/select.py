"""Which components go into a run, once every setting is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.draft import Draft
from rlk.planning.layers import listed
from rlk.planning.parse import parse_plugin
from rlk.registry.external import find_entry
from rlk.registry.kinds import STACKED

#: Who chose a component that is active without being asked for.
JOINED = "active in every run"


def select(draft: Draft) -> tuple[Choice, ...]:
    """All components of a run, the algorithm first, as they are before they are configured.

    The distribution is missing, because it may depend on the action space.
    """
    slots = [slot for slot in draft.layers.slots if slot != "distribution"]
    in_slots = [choice for slot in slots for choice in filling(draft, slot)]
    # A wrapper of every run (a monitor) is innermost: it sees what the environment itself gives.
    first = [choice for choice in draft.plugins.values() if _joined_wrapper(choice)]
    others = [choice for choice in draft.plugins.values() if not _joined_wrapper(choice)]
    return (draft.algorithm, *in_slots, *first, *others)


def one_distribution(draft: Draft) -> tuple[Choice, ...]:
    """The distribution, where it is the same for every action space; else nothing."""
    return filling(draft, "distribution")


def filling(draft: Draft, slot: str, action_space: str = "") -> tuple[Choice, ...]:
    """The component in a slot, or nothing; several in a slot of `STACKED`, the innermost first.

    Args:
        draft: what the run is made of.
        slot: a key of its `layers.slots`.
        action_space: its class name; a slot may be filled by one component for each.

    Raises:
        PlanError: if the component decorates a storage, so that it cannot be one by itself.
    """
    setting = draft.layers.find(slot)
    wanted = setting.value
    if isinstance(wanted, Mapping):
        wanted = wanted.get(action_space)
    names = listed(wanted) if slot in STACKED else (wanted,)
    asked = [name for name in names if name is not None and not _is_refused(draft, name)]
    found: dict[str, Choice] = {}
    for name in asked:
        choice = _in_slot(draft, slot, name, setting.by)
        found.setdefault(choice.name, choice)
    # What acts by a policy of its own comes before what changes its actions.
    return tuple(sorted(found.values(), key=_changes_actions))


def _is_refused(draft: Draft, name: Any) -> bool:
    own = draft.registries.own_name(name) if isinstance(name, str) else name
    return own in draft.refused


def _in_slot(draft: Draft, slot: str, name: Any, by: str) -> Choice:
    if isinstance(name, str) and parse_plugin(name)[1]:
        raise PlanError(
            f"{slot}={name!r} has settings after the name. Say --plugin {name}, in Python "
            f"plugins=[{name!r}]."
        )
    entry = find_entry(name, draft.layers.slots[slot], draft.registries)
    choice = Choice.of(entry, slot, by)
    if choice.component.stages:
        wrong = f"{choice.title} decorates a storage and cannot be one by itself"
        raise PlanError(f"{wrong}. Say --plugin {choice.name}.")
    return choice


def _changes_actions(choice: Choice) -> bool:
    return choice.component.scope != "policy"


def _joined_wrapper(choice: Choice) -> bool:
    return choice.slot == "wrappers" and choice.by == JOINED
