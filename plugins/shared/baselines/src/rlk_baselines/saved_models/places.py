"""The places that a program names for files: paths, whose suffix may lack, and open files."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from rlk.errors import RlkError
from rlk.files import looking_at
from rlk_baselines.refusals import Refused

Place = str | os.PathLike[str] | IO[bytes]


def refuse_no_place(place: Any, method: str, what: str = "a model") -> None:
    """Refuse what is neither a path with a name nor a file that was opened to `read` or `write`."""
    if isinstance(place, (str, os.PathLike)):
        if not Path(place).name:
            raise Refused(f"{what} is a file, and {os.fspath(place)!r} is a folder: name a file.")
    elif not hasattr(place, method):
        raise Refused(
            f"{what} is a file: pass its path, or a file that is open to {method} in binary mode; "
            f"got {type(place).__name__}."
        )


def with_suffix(place: str | os.PathLike[str], suffix: str) -> Path:
    """The path of a place, with this suffix if it has none."""
    path = Path(place)
    return path if path.suffix else path.with_name(path.name + suffix)


@contextlib.contextmanager
def file_at(place: Place, suffixes: tuple[str, ...] = (".zip", ".pkl")) -> Iterator[Path]:
    """The path of a file, or of a copy of an open one.

    Args:
        place: the path, or the open file.
        suffixes: those that the path may lack; if files of both exist, the first is meant.

    Raises:
        Refused: if the file does not exist, or an open one has nothing left to read.
    """
    refuse_no_place(place, "read")
    if not isinstance(place, (str, os.PathLike)):
        data = place.read()
        if not data:
            raise Refused("the open file has nothing left to read. Write file.seek(0) before.")
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder, "model.zip")
            copy.write_bytes(data)
            with _called(copy, "the open file"):
                yield copy
        return
    path = Path(place)
    others = [path.with_name(path.name + suffix) for suffix in suffixes]
    with looking_at(path, f"cannot read {path}", Refused):
        found = next((one for one in (path, *others) if one.is_file()), None)
    if found is None:
        raise Refused(f"the file {path} could not be found, nor {others[0]} or {others[1].name}.")
    yield found


@contextlib.contextmanager
def _called(path: Path, name: str) -> Iterator[None]:
    """Let errors about a path speak of it by another name."""
    try:
        yield
    except RlkError as error:
        error.args = tuple(str(part).replace(str(path), name) for part in error.args)
        raise
