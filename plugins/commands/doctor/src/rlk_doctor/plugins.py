"""Components that cannot be used: each is imported, with its implementation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rlk.registry.registry import clash
from rlk.registry.requirements import unmet
from rlk_cli import check, diagnose
from rlk_doctor import machine
from rlk_doctor.finding import Finding

if TYPE_CHECKING:
    from rlk.registry.registries import Registries


def loadable(registries: Registries) -> Iterator[Finding]:
    """Broken components, and names that are used twice; without any, how many can be used."""
    faults = list(_faults(registries))
    yield from faults
    if not faults:
        count = len(list(registries.every_entry()))
        yield Finding("plugins", f"{count}, all of which can be used")


def _faults(registries: Registries) -> Iterator[Finding]:
    # Without a library that all of them need, no implementation can be imported; its line says so.
    can_import = all(one.state != "broken" for one in machine.libraries())
    for entry in registries.every_entry():
        problem = check.fault(entry, registries) if can_import else diagnose.problem(entry)
        if problem:
            # What it requires and is not there has a line that says what to type.
            advice = "" if unmet(entry.dist) else f"pip uninstall {entry.dist}, or tell its authors"
            yield Finding(entry.title, f"{problem.rstrip('.')}.", "broken", advice)
    for name, rivals in diagnose.clashes(registries).items():
        advice = f"pip uninstall {' or '.join(sorted({entry.dist for entry in rivals}))}"
        yield Finding(f"name {name!r}", str(clash(name, rivals)), "broken", advice)
