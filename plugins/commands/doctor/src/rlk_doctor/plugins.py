"""Components that cannot be used; most are found without importing their implementations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlk.registry.registry import clash
from rlk_cli import check, diagnose
from rlk_doctor.finding import Finding

if TYPE_CHECKING:
    from rlk.registry.entry import Entry
    from rlk.registry.registries import Registries

#: Kinds of which a run or a search asks every component, and leaves broken ones out.
ASKED = ("environments", "finders", "presets", "search_spaces")


def loadable(registries: Registries) -> Iterator[Finding]:
    """Broken components, and names that two packages use; without any, how many can be used."""
    faults = list(_faults(registries))
    yield from faults
    if not faults:
        count = len(list(registries.every_entry()))
        yield Finding("plugins", f"{count}, all of which can be used")


def _faults(registries: Registries) -> Iterator[Finding]:
    for entry in registries.every_entry():
        problem = _problem(entry, registries)
        if problem:
            advice = f"pip uninstall {entry.dist}, or tell its authors"
            yield Finding(entry.title, f"{problem.rstrip('.')}.", "broken", advice)
    for name, rivals in diagnose.clashes(registries).items():
        dists = sorted({entry.dist for entry in rivals})
        if len(dists) > 1:
            advice = f"pip uninstall {' or '.join(dists)}"
            yield Finding(f"name {name!r}", str(clash(name, rivals)), "broken", advice)


def _problem(entry: Entry, registries: Registries) -> str | None:
    """Why a component cannot be used, or None; one that is left out if broken is imported."""
    return check.fault(entry, registries) if entry.kind in ASKED else diagnose.problem(entry)
