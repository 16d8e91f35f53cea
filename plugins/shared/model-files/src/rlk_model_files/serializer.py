"""A base of serializers that keep a state in one file; a subclass reads and writes the content."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import IO

from rlk.errors import BadFile, RlkError
from rlk.files import replacing
from rlk.protocols import State
from rlk_model_files import locate


class FileSerializer(ABC):
    """The kernel's protocol of a serializer, implemented by two methods on an open file."""

    suffix: str  #: of its files, including the dot

    @abstractmethod
    def write_to(self, file: IO[bytes], state: State) -> None:
        """Write the whole state."""

    @abstractmethod
    def read_from(self, file: IO[bytes]) -> State:
        """The state that was written.

        Raises:
            BadFile: if the content is damaged or of another kind. If the message does not contain
                the file's name, the name is put before it.
        """

    def manifest_from(self, file: IO[bytes]) -> State:
        """The part under `manifest`, or an empty one; a subclass may read it without the rest."""
        return self.read_from(file).get("manifest", {})

    def find(self, path: Path, best: bool = False) -> Path | None:
        """The file of a path: a file, its name without the suffix, or a run folder."""
        return locate.find(path, self.suffix, best)

    def write(self, path: Path, state: State) -> None:
        """Write a file so that `path` holds either its old content or the complete new state.

        Raises:
            RlkError: if a folder is in the way.
        """
        if path.is_dir():
            raise RlkError(f"cannot save to {path}: it is a folder.")
        with replacing(path) as file:
            self.write_to(file, state)

    def read(self, path: Path) -> State:
        """The state in a file.

        Raises:
            BadFile: if it is missing, damaged, too new, or of another kind.
        """
        return self._opened(path, manifest=False)

    def manifest(self, path: Path) -> State:
        """The part under `manifest` of the state in a file; BadFile as `read`."""
        return self._opened(path, manifest=True)

    def _opened(self, path: Path, *, manifest: bool) -> State:
        read = self.manifest_from if manifest else self.read_from
        try:
            with path.open("rb") as file:
                return read(file)
        except OSError as error:
            raise BadFile(f"cannot read {path}: {error.strerror}.") from None
        except BadFile as error:
            if str(path) in str(error):
                raise
            raise BadFile(f"{path}: {error}") from None
