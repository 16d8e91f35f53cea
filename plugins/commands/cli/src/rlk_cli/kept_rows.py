"""The rows of `rlk plugins list`, cached on disk until something that they depend on changes.

To make the rows, every component is imported, which takes most of the time of a listing. The rows
depend on what is installed and on the imported modules: the folders and files on `sys.path`, the
files of those modules and of the factories are compared by size and modification time.
Rows with a problem are not kept, because its solution may change none of these files.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterable
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rlk.files import cache_folder, replacing
from rlk.registry.registries import Registries
from rlk.registry.registry import BY_HAND

Row = dict[str, Any]


def load(registries: Registries) -> list[Row] | None:
    """The rows that were kept, if making them again would give the same."""
    try:
        names, path, files, rows = json.loads(_place().read_text(encoding="utf-8"))
    # No rows were kept, or another version kept them; a user without a home has no folder for them.
    except (OSError, ValueError, TypeError, RuntimeError):
        return None
    is_current = (names, path) == (_names(registries), sys.path) and files == _stamps(files)
    return rows if is_current else None


def save(registries: Registries, rows: list[Row]) -> None:
    """Keep rows, unless one has a problem or was registered by this program itself."""
    if any(row["problem"] or row["dist"] == BY_HAND for row in rows):
        return
    found = [_file(row["factory"]) for row in rows]
    found += [getattr(module, "__file__", None) for module in sys.modules.values()]
    files = [*sys.path, *(file for file in found if isinstance(file, str))]
    with contextlib.suppress(OSError, RuntimeError):  # of a user who may not write, or has no home
        kept = (_names(registries), sys.path, _stamps(files), rows)
        with replacing(_place()) as file:
            file.write(json.dumps(kept).encode())


def _place() -> Path:
    """One file for every installation of Python; RuntimeError for a user without a home."""
    installation = sha256(f"{sys.prefix} {sys.version}".encode()).hexdigest()[:16]
    return cache_folder() / "rlk" / f"plugins-{installation}.json"


def _names(registries: Registries) -> list[list[str]]:
    """All registered components: kind, name, distribution and version of each."""
    return [[one.kind, one.name, one.dist, one.version] for one in registries.every_entry()]


def _file(factory: str | None) -> str | None:
    """The file of the module in `module:name`."""
    spec = find_spec(factory.partition(":")[0]) if factory else None
    return spec.origin if spec else None


def _stamps(files: Iterable[str]) -> dict[str, list[int]]:
    """Size and modification time of every file; nothing for a missing file."""
    found = {}
    for file in files:
        try:
            status = os.stat(file or ".")
        except OSError:
            found[file] = [0, 0]
        else:
            found[file] = [status.st_size, status.st_mtime_ns]
    return found
