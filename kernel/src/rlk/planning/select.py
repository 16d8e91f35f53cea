"""Which components go into a run, once every setting is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rlk.errors import PlanError
from rlk.planning.choice import Choice
from rlk.planning.draft import Draft
from rlk.planning.layers import Origin, listed
from rlk.planning.parse import parse_plugin
from rlk.registry.external import find_entry
from rlk.registry.kinds import STACKED


def select(draft: Draft) -> tuple[Choice, ...]:
    """All components of a run, the algorithm first, not yet configured.

    A distribution that depends on the action space is not among them: see `filling`.
    """
    in_slots = [choice for slot in draft.layers.slots for choice in filling(draft, slot)]
    plugins = sorted(draft.plugins.values(), key=_turn)
    return (draft.algorithm, *in_slots, *plugins)


def filling(draft: Draft, slot: str, action_space: str = "") -> tuple[Choice, ...]:
    """The component in a slot, or nothing; several in a slot of `STACKED`, the innermost first.

    Args:
        draft: the draft of the run.
        slot: a key of its `layers.slots`.
        action_space: its class name, for a slot with one component for each (`distribution`).

    Raises:
        PlanError: if the component is a decorator, which is not a storage by itself.
    """
    setting = draft.layers.find(slot)
    asked = setting.value
    if isinstance(asked, Mapping):
        asked = asked.get(action_space)
    found: dict[str, Choice] = {}
    for one in listed(asked) if slot in STACKED else (asked,):
        if one is not None and not (isinstance(one, str) and draft.keeps_out(one)):
            choice = _in_slot(draft, slot, one, setting.origin)
            found.setdefault(choice.name, choice)  # an alias of the same is not a second one
    return tuple(sorted(found.values(), key=_acts_by_own_policy, reverse=True))


def _in_slot(draft: Draft, slot: str, asked: Any, origin: Origin) -> Choice:
    if isinstance(asked, str) and parse_plugin(asked)[1]:
        raise PlanError(
            f"{slot}={asked!r} has settings after the name. Use --plugin {asked}, in Python "
            f"plugins=[{asked!r}]."
        )
    entry = find_entry(asked, draft.layers.slots[slot], draft.registries)
    choice = Choice.of(entry, origin, slot)
    if choice.component.stages:
        wrong = f"{choice.title} decorates a storage and cannot be one by itself"
        raise PlanError(f"{wrong}. Use --plugin {choice.name}.")
    return choice


def _acts_by_own_policy(choice: Choice) -> bool:
    """Whether it is a noise on the policy: the innermost, because others change its actions."""
    return choice.component.perturbs_policy


def _turn(choice: Choice) -> int:
    """The place of a plugin among all: what has joined by itself comes last.

    A SPEC.toml of the run names all others, also those that settings or other plugins have put in
    later, and makes the same order of them. But a wrapper of every run (a monitor) is innermost: it
    sees the environment's own results.
    """
    if not choice.has_joined:
        return 1
    return 0 if choice.kind == "wrappers" else 2
