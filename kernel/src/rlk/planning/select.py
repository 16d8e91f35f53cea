"""Which components go into a run, once every setting is known."""

from __future__ import annotations

from collections.abc import Mapping

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.draft import Draft
from rlk.registry.external import find_entry

#: Who chose a component that is active without being asked for.
JOINED = "active in every run"


def select(draft: Draft) -> tuple[Choice, ...]:
    """All components of a run, the algorithm first, as they are before they are configured.

    The distribution is missing, because it may depend on the action space.
    """
    slots = [slot for slot in draft.layers.slots if slot != "distribution"]
    found = [filling(draft, slot) for slot in slots]
    in_slots = [choice for choice in found if choice is not None]
    # A wrapper of every run (a monitor) is innermost: it sees what the environment itself gives.
    first = [choice for choice in draft.plugins.values() if _joined_wrapper(choice)]
    others = [choice for choice in draft.plugins.values() if not _joined_wrapper(choice)]
    return (draft.algorithm, *in_slots, *first, *others)


def one_distribution(draft: Draft) -> tuple[Choice, ...]:
    """The distribution, where it is the same for every action space; else nothing."""
    found = filling(draft, "distribution")
    return () if found is None else (found,)


def filling(draft: Draft, slot: str, action_space: str = "") -> Choice | None:
    """The component in a slot, if there is one.

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
    if wanted is None or wanted in draft.refused:
        return None
    entry = find_entry(wanted, draft.layers.slots[slot], draft.registries)
    choice = Choice.of(entry, slot, setting.by)
    if choice.component.stages:
        wrong = f"{choice.title} decorates a storage and cannot be one by itself"
        raise PlanError(f"{wrong}. Say --plugin {choice.name}.")
    return choice


def _joined_wrapper(choice: Choice) -> bool:
    return choice.slot == "wrappers" and choice.by == JOINED
