"""What the checks of a serializer share: how they write and read states."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from rlk_testing.contracts.shared.contract import Contract


class SerializerSuite(Contract):
    """Writes and reads files with the serializer."""

    kind = "serializers"

    def path(self, folder: Path, name: str) -> Path:
        """A path with this serializer's suffix."""
        return folder / f"{name}{self.made().suffix}"

    def written(self, state: dict[str, Any]) -> bytes:
        """The content of a file with this state."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.path(Path(folder), "written")
            self.made().write(path, state)
            return content(path)

    def read(self, data: bytes) -> Any:
        with tempfile.TemporaryDirectory() as folder:
            path = self.path(Path(folder), "read")
            path.write_bytes(data)
            return self.made().read(path)

    def round_trip(self, state: dict[str, Any]) -> Any:
        return self.read(self.written({"manifest": {"state_version": 1}, **state}))


def content(path: Path) -> bytes:
    """What was written; raises AssertionError unless that is one regular file."""
    kind = "a folder" if path.is_dir() else "a link" if path.is_symlink() else "nothing"
    assert path.is_file() and not path.is_symlink(), (
        f"it wrote {kind} at {path.name}, not one regular file: old checkpoints are deleted, and "
        "those of a fork copied, as single files"
    )
    return path.read_bytes()
