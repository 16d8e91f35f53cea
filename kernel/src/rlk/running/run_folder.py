"""The folder of a run: it belongs to one run, and nothing is ever written over another."""

from __future__ import annotations

from pathlib import Path

from rlk.errors import PlanError
from rlk.running.folder_owner import in_use


def claim(path: Path, what: str, instead: str) -> Path:
    """Make the folder of a new run, or take one that is empty.

    Args:
        path: of the folder.
        what: what the user typed (`--out mine`), as the error begins.
        instead: what to type to go on with the run that the folder holds.

    Raises:
        PlanError: if a run is writing to it, it is not empty, or it cannot be made.
    """
    if problem := in_use(path):
        raise PlanError(problem)
    if path.is_dir() and any(path.iterdir()):
        raise PlanError(
            f"{what} exists and is not empty. Name another folder, or to go on with the run in it: "
            f"{instead}"
        )
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlanError(f"{what} cannot be made: {error.strerror}.") from None
    return path


def holds(folder: Path, file: Path) -> bool:
    """Whether a file is in a folder or below it, or is the folder itself."""
    return folder.resolve() in (file.resolve(), *file.resolve().parents)
