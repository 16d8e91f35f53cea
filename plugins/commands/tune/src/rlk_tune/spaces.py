"""Which settings of an algorithm are searched: entry points of the group `rlk.search_spaces`.

A search space is a component of the kind `search_spaces`. Its factory has no arguments and makes a
`SearchSpace`. So a package with an algorithm can provide its ranges; this one has those for rlk's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from rlk.errors import BrokenPlugin, PlanError, described
from rlk.registry.entry import Entry
from rlk.registry.kernel import default_kernel
from rlk_tune.ranges import Range, parse_range

KIND = "search_spaces"
#: The distribution whose ranges give way to those of any other.
OWN = "rlk-tune"
Ranges = dict[str, Range]


class SearchSpace(Protocol):
    """Provides the ranges of settings that are worth searching."""

    def find(self, algo: str) -> Mapping[str, str] | None:
        """The range of each setting, by dotted key, as for `--search`; None if it has no ranges."""


def known_ranges(algo: str, wanted: str) -> tuple[Ranges, list[str]]:
    """The ranges of the search spaces for an algorithm, and a note on each broken space.

    Args:
        algo: its name.
        wanted: the name of a space, `none`, or `auto` for the only one with ranges. If others than
            rlk's own space have some, its own do not count.

    Raises:
        PlanError: if several other spaces have ranges, or the named one has none or is broken.
    """
    if wanted == "none":
        return {}, []
    registry = default_kernel().registries.add_kind(KIND)
    having, notes = dict[str, Ranges](), list[str]()
    for name in registry.names() if wanted == "auto" else [wanted]:
        try:
            ranges = _ranges(registry.get(name), algo)
        except BrokenPlugin as error:
            if wanted != "auto":
                raise
            notes.append(f"space {name} left out: {error}")
            continue
        having |= {name: ranges} if ranges else {}
    of_others = [name for name in having if registry.get(name).dist != OWN]
    if of_others:
        having = {name: having[name] for name in of_others}
    if len(having) > 1:
        several = " or ".join(f"--space {name}" for name in having)
        raise PlanError(f"several search spaces have ranges for {algo!r}. Use {several}.")
    if not having and wanted != "auto":
        raise PlanError(
            f"the search space {wanted!r} has nothing for {algo!r}. Leave --space out, or say what "
            "to search: --search learning_rate=log:1e-5:1e-2"
        )
    return next(iter(having.values()), {}), notes


def _ranges(entry: Entry, algo: str) -> Ranges:
    """The ranges of one search space; BrokenPlugin if it raises, or has anything but ranges."""
    factory = entry.load()
    try:
        texts = factory().find(algo) or {}
        for setting, text in texts.items():
            if not isinstance(text, str):
                example = "'log:1e-5:1e-2' or '0.9,0.99'"
                raise entry.broken(f"{setting} has {text!r:.80}, not a text such as {example}")
        return {setting: parse_range(setting, text) for setting, text in texts.items()}
    except BrokenPlugin:
        raise
    except PlanError as error:
        raise entry.broken(str(error).removesuffix(".")) from error
    except Exception as error:
        raise entry.broken(described(error)) from error
