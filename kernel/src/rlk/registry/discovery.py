"""The entry points of installed distributions, found without importing any of them.

Importing `importlib.metadata` and parsing the metadata of 150 distributions with it takes 60 ms,
which is half of the time that `rlk --help` may take. This module therefore reads the folders on
`sys.path` directly: `entry_points.txt` of every distribution, and the name and version of those
that have an entry point of rlk's.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

#: The prefix of rlk's entry-point groups.
PREFIX = "rlk."
#: The endings of folders of metadata (within an egg it is EGG-INFO), and the file in each that has
#: the name and the version.
FOLDERS = {".dist-info": "METADATA", "egg-info": "PKG-INFO"}


class Point(NamedTuple):
    """The entry point `name = target` in the group `rlk.<kind>` of a distribution."""

    kind: str
    name: str
    target: str
    dist: str
    version: str

    def load(self) -> Any:
        """Import the object that it names."""
        module, _, path = self.target.partition("[")[0].partition(":")
        found: Any = importlib.import_module(module.strip())
        for part in filter(None, path.strip().split(".")):
            found = getattr(found, part)
        return found


def entry_points() -> Iterator[Point]:
    """Every entry point of rlk's, in the order of `sys.path`.

    The entry points of a distribution that is installed in two of its folders come twice.
    """
    for folder in sys.path:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:  # `sys.path` may name what does not exist, or is no folder
            continue
        for name in names:
            for ending, metadata in FOLDERS.items():
                if name.lower().endswith(ending):
                    yield from _of_folder(os.path.join(folder, name), metadata)


def _of_folder(folder: str, metadata: str) -> Iterator[Point]:
    """The entry points of a distribution with this folder of metadata, and this file in it."""
    text = _read(os.path.join(folder, "entry_points.txt"))
    if f"[{PREFIX}" in text:
        yield from _points(text, _read(os.path.join(folder, metadata)))


def _points(text: str, metadata: str) -> Iterator[Point]:
    """rlk's entry points in an `entry_points.txt`, of the distribution with this metadata."""
    owner, version = _field("Name", metadata) or "unknown", _field("Version", metadata)
    group = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group.startswith(PREFIX) and "=" in line and line[0] not in "#;":
            name, _, target = line.partition("=")
            kind = group.removeprefix(PREFIX)
            yield Point(kind, name.strip(), target.strip(), owner, version)


def _field(name: str, metadata: str) -> str:
    """A field in the header of metadata, or an empty text if it is missing."""
    header = metadata.partition("\n\n")[0]  # a README follows
    _, _, rest = f"\n{header}".partition(f"\n{name}: ")
    return rest.partition("\n")[0]


def _read(path: str) -> str:
    """The text of a file, which may be badly encoded; empty if it is missing or unreadable."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
