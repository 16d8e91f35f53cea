"""Settings in a file that another version of their component has written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rlk import settings
from rlk.errors import PlanError
from rlk.planning.saved_records import SavedComponent
from rlk.registry.registries import Registries


def refuse_settings_of_other_versions(
    components: Iterable[SavedComponent], changes: Mapping[str, Any], registries: Registries
) -> None:
    """PlanError for saved settings that only the version which saved them has.

    Args:
        components: those in the file that are used again.
        changes: settings that are passed now; a slot among them has another component.
        registries: where the installed ones are found.
    """
    unknown, wanted = [], dict[str, None]()
    for saved in components:
        entry = None if saved.is_external or saved.slot in changes else saved.entry(registries)
        if entry is None or not saved.version or entry.version == saved.version:
            continue
        names = [*saved.settings.keys() - set(settings.names(entry.component().config))]
        if names:
            of_it = ", ".join(map(repr, sorted(names)))
            unknown.append(f"{of_it} of {saved.title}; {entry.owner} is installed")
            wanted[f"{saved.dist}=={saved.version}"] = None
    if unknown:
        raise PlanError(
            "another version wrote this file, with settings that the one here does not have: "
            f"{', and '.join(unknown)}. Type: pip install {' '.join(wanted)}"
        )
