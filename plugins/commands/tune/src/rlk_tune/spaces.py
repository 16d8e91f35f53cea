"""Which settings of an algorithm are searched: entry points of the group `rlk.search_spaces`.

A search space is a component of the kind `search_spaces`. Its factory has no arguments and makes a
`SearchSpace`. So a package with an algorithm can provide its ranges; this one has those for rlk's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rlk.errors import PlanError
from rlk.registry.kernel import default_kernel
from rlk_tune.ranges import Range, parse_range

KIND = "search_spaces"
Ranges = dict[str, Range]


class SearchSpace(Protocol):
    """Provides the ranges of settings that are worth searching."""

    def find(self, algo: str) -> Mapping[str, str] | None:
        """The range of each setting, by dotted key, as for `--search`; None if it has no ranges."""


def known_ranges(algo: str, wanted: str) -> Ranges:
    """The ranges of the search spaces for an algorithm; {} if there are none.

    Args:
        algo: its name.
        wanted: the name of a space, `auto` for the only one with ranges, or `none`.

    Raises:
        PlanError: if several spaces have ranges, or the named one has none.
    """
    if wanted == "none":
        return {}
    registry = default_kernel().registries.add_kind(KIND)
    names = registry.names() if wanted == "auto" else [wanted]
    found = {name: registry.get(name).load()().find(algo) for name in names}
    having = {name: texts for name, texts in found.items() if texts}
    if len(having) > 1:
        several = " or ".join(f"--space {name}" for name in having)
        raise PlanError(f"several search spaces have ranges for {algo!r}. Use {several}.")
    if not having and wanted != "auto":
        raise PlanError(
            f"the search space {wanted!r} has nothing for {algo!r}. Leave --space out, or say what "
            "to search: --search learning_rate=log:1e-5:1e-2"
        )
    return {
        setting: parse_range(setting, text)
        for texts in having.values()
        for setting, text in texts.items()
    }
