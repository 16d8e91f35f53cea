"""Which components of a saved plan are used again: those that are installed and wanted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import attrs

from rlk.errors import PlanError
from rlk.planning.draft import leaves_out
from rlk.planning.saved_records import SavedComponent
from rlk.planning.stand_ins import StandIns
from rlk.registry.kinds import REPLACEABLE, STACKED, is_group_slot
from rlk.registry.registries import Registries


@attrs.frozen
class Present:
    """The components that are installed and wanted, and what stands in for others."""

    components: list[SavedComponent]
    plugins: tuple[Any, ...]  #: those passed now, without a `no:NAME` that planning would refuse
    notes: tuple[str, ...]  #: a sentence on each that had joined by itself and is not there
    absent: tuple[str, ...]  #: likewise on each that is not there and not needed to act


def present_components(
    wanted: Sequence[SavedComponent],
    plugins: tuple[Any, ...],
    changes: Mapping[str, Any],
    registries: Registries,
    stand_ins: StandIns | None,
) -> Present:
    """The components of a saved plan that can be put in again.

    A component that a `no:NAME` leaves out is dropped with its settings. So is one that had joined
    by itself and cannot be used here, with a note.

    Args:
        wanted: the saved components.
        plugins, changes: those passed now.
        registries: where components are found by their names.
        stand_ins: what acts in the place of absent parts of training; None if it must train on.

    Raises:
        PlanError: for a component that was asked for and is not installed here, unless its slot is
            filled with another one now.
    """
    kept, plugins = _without_left_out(wanted, plugins, registries)
    absent = tuple[str, ...]()
    if stand_ins is not None:
        kept, absent = _enough_to_act(kept, stand_ins)
    components, notes = _without_absent(kept, changes, registries, to_act=stand_ins is not None)
    return Present(components, plugins, notes, absent)


def _without_left_out(
    components: Sequence[SavedComponent], plugins: tuple[Any, ...], registries: Registries
) -> tuple[list[SavedComponent], tuple[Any, ...]]:
    """The components that no `no:NAME` leaves out; and the plugins.

    A `no:NAME` of a component that is not installed here is dropped: planning would not know it.
    """
    own_name = registries.own_name
    out = {own_name(one.removeprefix("no:")) for one in plugins if leaves_out(one)}
    gone = [one for one in components if one.name in out and _may_be_left_out(one)]
    kept = [one for one in components if one not in gone]
    unknown = [f"no:{one.name}" for one in gone if one.name not in registries]
    return kept, tuple(one for one in plugins if not (leaves_out(one) and one in unknown))


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
        sentences.append(
            f"{saved.slot} {saved.name!r} ({saved.owner}) is not needed to act, and {what}: "
            f"{absence}"
        )
    return kept, tuple(sentences)


def _without_absent(
    components: Iterable[SavedComponent],
    changes: Mapping[str, Any],
    registries: Registries,
    *,
    to_act: bool,
) -> tuple[list[SavedComponent], tuple[str, ...]]:
    """The components without those that joined by themselves and cannot be used; and notes."""
    kept, notes = [], []
    for saved in components:
        if saved.has_joined:
            absence = saved.absence(registries)
            if absence is None:
                kept.append(saved)
            else:
                notes.append(
                    f"{saved.slot} {saved.name!r} ({saved.owner}) had joined by itself and is "
                    f"left out: {absence}"
                )
        elif saved.is_external or saved.name in registries:
            kept.append(saved)
        elif saved.slot not in changes:
            raise _missing(saved, to_act=to_act)
    return kept, tuple(notes)


def _missing(saved: SavedComponent, *, to_act: bool) -> PlanError:
    """The error for a component that was asked for and is not installed."""
    without = alone = ""
    if saved.is_for_training and not to_act:
        alone = " To predict alone, it is not needed: in Python, rlk.load(…, to_act=True)."
    if _may_be_left_out(saved):
        without = f", or leave it out: --plugin no:{saved.name}"
    elif saved.slot in REPLACEABLE or is_group_slot(saved.slot):
        without = f", or use another one in its place: --set {saved.slot}=NAME"
    return PlanError(
        f"this model was made with {saved.slot} {saved.name!r} of {saved.owner}, which is not "
        f"there: {saved.how_to_get}{without}.{alone}"
    )
