"""Whether a folder may become that of a new run, so that nothing is ever written over another."""

from __future__ import annotations

from pathlib import Path

from rlk.errors import PlanError
from rlk.running.folder import in_use


def check_unused(path: Path, what: str, instead: str) -> None:
    """Refuse a folder that another run is in; one that is empty or not there is fine.

    Args:
        path: of the folder.
        what: what the user typed (`--out mine`), as the error begins.
        instead: what to type to go on with the run that the folder holds.

    Raises:
        PlanError: if it is not empty.
    """
    if not path.is_dir() or not any(path.iterdir()):
        return
    raise PlanError(
        in_use(path)
        or f"{what} exists and is not empty. Name another folder, or to go on with the run in it: "
        f"{instead}"
    )


def check_out(out: str | None, going_on_from: Path | None = None) -> None:
    """Likewise for what a program gives as `out`.

    Args:
        out: the folder, or None for a run that writes nothing.
        going_on_from: what was loaded; a run goes on in the folder that this is in.

    Raises:
        PlanError: if another run is in it.
    """
    if out is None:
        return
    folder, instead = Path(out), f"rlk.load({out!r}, out={out!r})"
    loaded = [] if going_on_from is None else [going_on_from, *going_on_from.resolve().parents]
    if folder.resolve() not in (place.resolve() for place in loaded):
        check_unused(folder, f"out={out!r}", instead)
