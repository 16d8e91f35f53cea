"""Components that cannot be used, found without importing their implementations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlk.registry.registry import clash
from rlk_cli import diagnose
from rlk_doctor.finding import Finding

if TYPE_CHECKING:
    from rlk.registry.registries import Registries


def loadable(registries: Registries) -> Iterator[Finding]:
    """Broken components, names that two packages use, or that no component is installed."""
    entries = [entry for registry in registries for entry in registry]
    faults = list(_faults(registries))
    yield from faults
    if not faults:
        yield Finding("plugins", f"{len(entries)}, all of which can be used")


def _faults(registries: Registries) -> Iterator[Finding]:
    for registry in registries:
        for entry in registry:
            problem = diagnose.problem(entry)
            if problem:
                advice = f"pip uninstall {entry.dist}, or tell its authors"
                yield Finding(entry.title, f"{problem.rstrip('.')}.", "broken", advice)
    for name, rivals in diagnose.clashes(registries).items():
        dists = sorted({entry.dist for entry in rivals})
        if len(dists) > 1:
            advice = f"pip uninstall {' or '.join(dists)}"
            yield Finding(f"name {name!r}", str(clash(name, rivals)), "broken", advice)
