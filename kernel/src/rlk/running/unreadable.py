"""Why the saved files of a run cannot be read here: a serializer is missing, or broken."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from rlk import settings
from rlk.documents import read_json
from rlk.errors import BadFile, BrokenPlugin, described
from rlk.planning.choice import Choice
from rlk.planning.saved_plan import PLAN
from rlk.planning.saved_records import SavedComponent, SavedPlan, how_to_get
from rlk.protocols import Serializer
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.registry.entry import Entry
    from rlk.registry.kernel import Kernel


def made(entry: Entry) -> Serializer:
    """The serializer of an entry, with its own defaults.

    Raises:
        BrokenPlugin: if it cannot be imported or made.
    """
    choice = Choice.of(entry, "")
    try:
        config = settings.structure(choice.component.config, {}, entry.title)
        serializer: Serializer = attrs.evolve(choice, config=config).make()
    except BrokenPlugin:
        raise
    except Exception as error:
        raise entry.broken(described(error)) from error
    return serializer


def why_unreadable(place: Path, kernel: Kernel) -> str:
    """Sentences on serializers that may be what is missing to read files at a place, or "".

    If the place belongs to a run, its plan says which one wrote them. Otherwise any that is broken
    may be that one.

    Args:
        place: a run folder, its folder of checkpoints, or a file in one of them; it may not exist.
        kernel: where serializers come from.
    """
    saved = _serializer_of_run(place)
    if saved is None:
        return " ".join(_faults(kernel))
    wrote = f"The run's files are written by {saved.title}, which"
    try:
        entry = saved.entry(kernel.registries)
        if entry is None:
            return f"{wrote} is not there: {how_to_get([saved])}."
        if entry.component().runs_code:
            return f"{wrote} could run code in a file, so that nothing is loaded by it."
        made(entry)
    except BrokenPlugin as error:
        return str(error)
    return ""


def _serializer_of_run(place: Path) -> SavedComponent | None:
    """The serializer in the plan of the run that a place belongs to; None if no plan says so."""
    for folder in (place, *place.absolute().parents[:2]):
        if plan := plan_in(folder):
            return next((one for one in plan.components if one.slot == "serializer"), None)
    return None


def plan_in(folder: Path) -> SavedPlan | None:
    """The plan of the run in a folder; None if there is none, or it is damaged."""
    if (folder / PLAN).is_file():
        with contextlib.suppress(BadFile):  # a damaged plan only means less advice
            return structured(SavedPlan, read_json(folder / PLAN), "the saved plan")
    return None


def _faults(kernel: Kernel) -> Iterator[str]:
    """Why serializers cannot be used, a sentence for each broken one."""
    for entry in kernel.registries.serializers:
        try:
            made(entry)
        except BrokenPlugin as error:
            yield str(error)
