"""Which components of a saved plan are used again: those that are installed and wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rlk.errors import PlanError
from rlk.planning.draft import leaves_out
from rlk.registry.kinds import STACKED
from rlk.restoring.given_now import GivenNow
from rlk.restoring.saved_records import SavedComponent, how_to_get


def without_left_out(
    components: Sequence[SavedComponent], now: GivenNow
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """The components that no `no:NAME` leaves out; and notes on what the actions may depend on."""
    own_name = now.registries.own_name
    out = {own_name(one.removeprefix("no:")) for one in now.plugins if leaves_out(one)}
    left_out = [one for one in components if one.name in out and _may_be_left_out(one)]
    kept = [one for one in components if one not in left_out]
    notes = tuple(
        f"{one.title} was part of how this model acts, and is left out: its actions may differ"
        for one in left_out
        if one.may_change_actions and not one.joined
    )
    return kept, notes


def without_switched_off(
    components: Iterable[SavedComponent], now: GivenNow
) -> list[SavedComponent]:
    """The components without those that a setting of the algorithm activates, and is False now."""
    algorithm = now.algorithm
    off = {
        plugin
        for key, plugin in algorithm.activates.items()
        if any(now.settings.get(one) is False for one in (key, f"{algorithm.name}.{key}"))
    }
    return [one for one in components if one.name not in off or not _may_be_left_out(one)]


def _may_be_left_out(saved: SavedComponent) -> bool:
    """Whether a run can do without it: it fills no slot, or one that may be empty."""
    must_be_filled = saved.role == "algorithm" or saved.fills_slot
    return saved.role in STACKED or not must_be_filled


def without_absent(
    components: Iterable[SavedComponent], now: GivenNow, *, to_act: bool
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """The components without those that joined by themselves and cannot be used; and notes.

    With `to_act`, the components are those of `stand_ins.acting`.

    Raises:
        PlanError: for all components that were asked for and are not installed here, unless their
            slots are filled with others now.
    """
    kept, notes, not_installed = [], [], []
    for saved in components:
        if saved.joined:
            absence = saved.absence(now.registries)
            if absence is None:
                kept.append(saved)
            else:
                notes.append(f"{saved.title} had joined by itself and is left out: {absence}")
        elif saved.is_external or saved.name in now.registries:
            kept.append(saved)
        elif saved.role not in now.settings:
            not_installed.append(saved)
    if not_installed:
        raise _not_installed(not_installed, to_act=to_act)
    return kept, tuple(notes)


def _not_installed(components: Sequence[SavedComponent], *, to_act: bool) -> PlanError:
    """The error for components that were asked for and are not installed."""
    ways = [how_to_get(components), *filter(None, map(_way_without, components))]
    spared = [repr(saved.name) for saved in components if saved.is_for_training and not to_act]
    alone = (
        f" To predict alone, {' and '.join(spared)} {'is' if len(spared) == 1 else 'are'} not "
        "needed: in Python, rlk.load(…, to_act=True)."
    )
    return PlanError(
        f"this model was made with {', '.join(saved.title for saved in components)}, which "
        f"{'is' if len(components) == 1 else 'are'} not there: {', or '.join(ways)}."
        f"{alone if spared else ''}"
    )


def _way_without(saved: SavedComponent) -> str:
    """What to type to use the model without a component; "" if it would act in another way."""
    if saved.may_change_actions:
        return ""
    if _may_be_left_out(saved):
        return f"leave out {saved.name!r}: --plugin no:{saved.name}"
    return f"use another {saved.role}: --set {saved.role}=NAME"
