"""Entry points of installed distributions, read without importing anything of theirs.

To import `importlib.metadata` and to parse the metadata of 150 distributions with it takes 60 ms,
half of what `rlk --help` may. Folders on `sys.path` are read directly here: `entry_points.txt` of
every distribution, and the name and version of those that have an entry point of rlk's.
`importlib.metadata` is asked about everything else that can hold distributions: archives, and
finders that a program has put into `sys.meta_path`.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution

#: What the names of rlk's entry-point groups begin with.
PREFIX = "rlk."
#: How folders of metadata are called (the last within an egg), and the file with name and version.
FOLDERS = {".dist-info": "METADATA", ".egg-info": "PKG-INFO", "egg-info": "PKG-INFO"}
#: Finders whose distributions lie in the folders of `sys.path`.
KNOWN_FINDERS = ("PathFinder", "MetadataPathFinder")


class Point(NamedTuple):
    """The entry point `name = target` in the group `rlk.<kind>` of a distribution."""

    kind: str
    name: str
    target: str
    dist: str
    version: str

    def load(self) -> Any:
        """What it names, imported now."""
        module, _, path = self.target.partition("[")[0].partition(":")
        found: Any = importlib.import_module(module.strip())
        for part in filter(None, path.strip().split(".")):
            found = getattr(found, part)
        return found


def entry_points() -> Iterator[Point]:
    """Every entry point of rlk's, in the order of `sys.path`.

    A distribution that is installed in two of its folders comes twice.
    """
    for place in sys.path:
        try:
            names = sorted(os.listdir(place or "."))
        except NotADirectoryError:
            yield from _of_archive(place)
        except OSError:  # `sys.path` may name what is not there, or what this user may not read
            continue
        else:
            for name in names:
                ending = os.path.splitext(name.lower())[1] or name.lower()
                if ending in FOLDERS:
                    yield from _of_folder(os.path.join(place, name), FOLDERS[ending])
    for finder in sys.meta_path:
        if getattr(finder, "__name__", "") not in KNOWN_FINDERS:
            yield from _of_finder(finder)


def _of_folder(folder: str, metadata: str) -> Iterator[Point]:
    """Those that a folder of metadata holds, which may also be a file without entry points."""
    text = _read(os.path.join(folder, "entry_points.txt"))
    if f"[{PREFIX}" in text:
        yield from _points(text, _read(os.path.join(folder, metadata)))


def _of_archive(place: str) -> Iterator[Point]:
    """Those that an archive on `sys.path` holds."""
    from importlib.metadata import distributions

    yield from _of_distributions(distributions(path=[place]))


def _of_finder(finder: object) -> Iterator[Point]:
    """Those that a finder of `sys.meta_path` knows, if it knows distributions at all."""
    if find := getattr(finder, "find_distributions", None):
        from importlib.metadata import DistributionFinder

        yield from _of_distributions(find(DistributionFinder.Context()))


def _of_distributions(distributions: Iterable[Distribution]) -> Iterator[Point]:
    for dist in distributions:
        text = dist.read_text("entry_points.txt") or ""
        if f"[{PREFIX}" in text:
            metadata = dist.read_text("METADATA") or dist.read_text("PKG-INFO") or ""
            yield from _points(text, metadata)


def _points(text: str, metadata: str) -> Iterator[Point]:
    """rlk's among the entry points in a text, whose distribution has this metadata."""
    header = dict(line.split(": ", 1) for line in metadata.splitlines()[:20] if ": " in line)
    owner = header.get("Name", "unknown"), header.get("Version", "")
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group.startswith(PREFIX) and "=" in line and line[0] not in "#;":
            name, _, target = line.partition("=")
            yield Point(group.removeprefix(PREFIX), name.strip(), target.strip(), *owner)


def _read(path: str) -> str:
    """A file's text; an empty one if there is none, or this user may not read it."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""
