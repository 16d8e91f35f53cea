"""Which components of a saved plan are used again: those that are installed and wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.draft import leaves_out
from rlk.planning.other_versions import refuse_settings_of_other_versions
from rlk.planning.saved_records import SavedComponent, how_to_get
from rlk.planning.stand_ins import StandIns
from rlk.registry.kinds import STACKED
from rlk.registry.registries import Registries


@attrs.frozen
class Present:
    """The components that are installed and wanted, and what stands in for others."""

    components: list[SavedComponent]
    plugins: tuple[Any, ...]  #: those passed now, without a `no:NAME` that planning would refuse
    notes: tuple[str, ...]  #: a sentence on each that is missed where it acts, or had joined
    absent: tuple[str, ...]  #: likewise on each that is not there and not needed to act


def present_components(
    wanted: Sequence[SavedComponent],
    plugins: tuple[Any, ...],
    changes: Mapping[str, Any],
    registries: Registries,
    stand_ins: StandIns | None,
) -> Present:
    """The components of a saved plan that can be put in again.

    A component that a `no:NAME` leaves out is dropped with its settings, and with a note if the
    actions may depend on it. So is one that had joined by itself and cannot be used here.

    Args:
        wanted: the saved components.
        plugins, changes: those passed now.
        registries: where components are found by their names.
        stand_ins: what acts in the place of absent parts of training; None if it must train on.

    Raises:
        PlanError: for all components that were asked for and are not installed here, or have
            settings that the installed ones lack, unless their slots are filled with others now.
    """
    kept, plugins, left_out = _without_left_out(wanted, plugins, registries)
    absent = tuple[str, ...]()
    if stand_ins is not None:
        kept, absent = _enough_to_act(kept, stand_ins)
    components, notes = _without_absent(kept, changes, registries, to_act=stand_ins is not None)
    refuse_settings_of_other_versions(components, changes, registries)
    return Present(components, plugins, (*left_out, *notes), absent)


def _without_left_out(
    components: Sequence[SavedComponent], plugins: tuple[Any, ...], registries: Registries
) -> tuple[list[SavedComponent], tuple[Any, ...], tuple[str, ...]]:
    """The components that no `no:NAME` leaves out; the plugins; and notes.

    A `no:NAME` of a component that is not installed here is dropped: planning would not know it.
    """
    own_name = registries.own_name
    out = {own_name(one.removeprefix("no:")) for one in plugins if leaves_out(one)}
    gone = [one for one in components if one.name in out and _may_be_left_out(one)]
    kept = [one for one in components if one not in gone]
    unknown = [f"no:{one.name}" for one in gone if one.name not in registries]
    notes = tuple(
        f"{one.title} was part of how this model acts, and is left out: its actions may differ"
        for one in gone
        if one.may_change_actions and not one.has_joined
    )
    return kept, tuple(one for one in plugins if not (leaves_out(one) and one in unknown)), notes


def _may_be_left_out(saved: SavedComponent) -> bool:
    """Whether a run can do without it: it fills no slot, or one that may be empty."""
    must_be_filled = saved.slot == "algorithm" or saved.fills_slot
    return saved.slot in STACKED or not must_be_filled


def _enough_to_act(
    components: Iterable[SavedComponent], stand_ins: StandIns
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """The components, without absent parts of training or with stand-ins for them; and sentences.

    One that cannot be left out and has no stand-in stays.
    """
    kept, sentences = [], []
    for saved in components:
        absence, may_go = stand_ins.why_absent(saved), _may_be_left_out(saved)
        other = None if absence is None or may_go else stand_ins.of(saved)
        if absence is None or not (may_go or other):
            kept.append(saved)
            continue
        kept += [other] if other else []
        what = f"{other.name!r} stands in its place" if other else "is left out"
        sentences.append(f"{saved.title} is not needed to act, and {what}: {absence}")
    return kept, tuple(sentences)


def _without_absent(
    components: Iterable[SavedComponent],
    changes: Mapping[str, Any],
    registries: Registries,
    *,
    to_act: bool,
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """The components without those that joined by themselves and cannot be used; and notes."""
    kept, notes, missing = [], [], []
    for saved in components:
        if saved.has_joined:
            absence = saved.absence(registries)
            if absence is None:
                kept.append(saved)
            else:
                notes.append(f"{saved.title} had joined by itself and is left out: {absence}")
        elif saved.is_external or saved.name in registries:
            kept.append(saved)
        elif saved.slot not in changes:
            missing.append(saved)
    if missing:
        raise _missing(missing, to_act=to_act)
    return kept, tuple(notes)


def _missing(missing: Sequence[SavedComponent], *, to_act: bool) -> PlanError:
    """The error for components that were asked for and are not installed."""
    ways = [how_to_get(missing), *filter(None, map(_way_without, missing))]
    spared = [repr(saved.name) for saved in missing if saved.is_for_training and not to_act]
    alone = (
        f" To predict alone, {' and '.join(spared)} {'is' if len(spared) == 1 else 'are'} not "
        "needed: in Python, rlk.load(…, to_act=True)."
    )
    return PlanError(
        f"this model was made with {', '.join(saved.title for saved in missing)}, which "
        f"{'is' if len(missing) == 1 else 'are'} not there: {', or '.join(ways)}."
        f"{alone if spared else ''}"
    )


def _way_without(saved: SavedComponent) -> str:
    """What to type to use the model without a component; "" if it would act in another way."""
    if saved.may_change_actions:
        return ""
    if _may_be_left_out(saved):
        return f"leave out {saved.name!r}: --plugin no:{saved.name}"
    return f"use another {saved.slot}: --set {saved.slot}=NAME"
