"""Compiled updates on disk: each has a folder with a call plan and a library."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import attrs

from rlk.files import cache_folder
from rlk_compile.call_plan import CallPlan
from rlk_cpp_libraries.trust import why_not_trusted

#: How many entries there may be; the least recently used are removed first.
LIMIT = 64
#: How old an entry is that nobody copies any more.
ABANDONED_SECONDS = 3600.0
HOMELESS = "this user has no home, so set XDG_CACHE_HOME to a folder for caches"
_CALL_PLAN, _LIBRARY, _OPERATORS, _HASH = "call_plan.json", "update.so", "update.json", "sha256"


@attrs.frozen
class Entry:
    """A compiled update that was found: its call plan, and the file of its library."""

    call_plan: CallPlan
    library: Path


class Cache:
    """Compiled updates by key.

    Processes may share a cache: an entry appears complete, by a rename, and a damaged entry is
    removed and counts as missing. Libraries are code, so only the owner may access a folder that
    is made here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def find(self, key: str) -> Iterator[Entry]:
        """All entries for a key, the most recently used first."""
        for place in sorted(self.folder.glob(f"{_short(key)}-*"), key=_used, reverse=True):
            entry = _read(place)
            if entry is None:
                self._remove(place)
            else:
                yield entry

    def add(self, key: str, call_plan: CallPlan, library: Path) -> None:
        """Add an entry, and remove the least recently used ones beyond `LIMIT`.

        Raises:
            OSError: if it cannot be written.
        """
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        for place in self.folder.glob(".*"):  # what killed processes have left half copied
            if time.time() - _used(place) > ABANDONED_SECONDS:
                self._remove(place)
        made = Path(tempfile.mkdtemp(prefix=".", dir=self.folder))
        try:
            (made / _CALL_PLAN).write_text(call_plan.to_json(), encoding="utf-8")
            shutil.copyfile(library, made / _LIBRARY)
            if library.with_suffix(".json").exists():
                shutil.copyfile(library.with_suffix(".json"), made / _OPERATORS)
            digest = _digest(made)
            (made / _HASH).write_text(digest)
            place = self.folder / f"{_short(key)}-{digest[:16]}"
            try:
                made.rename(place)
            except OSError:
                if not place.exists():  # else another process was first
                    raise
        finally:
            shutil.rmtree(made, ignore_errors=True)
        for place in sorted(self.folder.glob("*-*"), key=_used)[:-LIMIT]:
            self._remove(place)

    def mark_used(self, entry: Entry) -> None:
        """Mark an entry as used now, so that others are removed first."""
        with contextlib.suppress(OSError):
            os.utime(entry.library.parent)

    def remove(self, entry: Entry) -> None:
        """Remove an entry that turned out to be wrong."""
        self._remove(entry.library.parent)

    def _remove(self, place: Path) -> None:
        shutil.rmtree(place, ignore_errors=True)


def usable_cache() -> tuple[Cache | None, str]:
    """The user's cache and "", or None and why nothing is kept in it and nothing is loaded."""
    try:
        folder = cache_folder() / "rlk" / "compile"
    except RuntimeError:
        return None, HOMELESS
    why_not = why_not_trusted(folder, "XDG_CACHE_HOME")
    return (None, why_not) if why_not else (Cache(folder), "")


def _short(key: str) -> str:
    return hashlib.sha256(key.encode()).hexdigest()[:32]


def _used(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:  # another process removed it
        return 0.0


def _read(place: Path) -> Entry | None:
    """The entry in this folder, or None if it is damaged, incomplete or may not be read."""
    try:
        if (place / _HASH).read_bytes() != _digest(place).encode():
            return None
        call_plan = CallPlan.from_json((place / _CALL_PLAN).read_text(encoding="utf-8"))
    except OSError:
        return None
    return Entry(call_plan, place / _LIBRARY)


def _digest(place: Path) -> str:
    """The hash of all files of an entry, except the one that holds the hash."""
    digest = hashlib.sha256()
    for name in (_CALL_PLAN, _LIBRARY, _OPERATORS):
        file = place / name
        if name != _OPERATORS or file.exists():
            digest.update(name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()
