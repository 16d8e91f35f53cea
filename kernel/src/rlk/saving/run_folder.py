"""Which folder a new run may use: not one that holds another run, so no run is overwritten.

`folder_owner` makes sure that it belongs to one process at a time. A folder counts as empty if
a process that was killed before its run began left no more than the file of its owner, files
that it had not finished, and its plan, where the new run writes its own.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import PlanError
from rlk.files import is_unfinished, looking_at, users_path
from rlk.running.folder_owner import OWNER, WRITTEN, in_use
from rlk.saving import saved_files

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.registry.kernel import Kernel
    from rlk.running.run import Run


def claim(path: Path, what: str, instead: str, rewritten: Collection[str] = ()) -> Path:
    """Make the folder of a new run, or take one that is empty; the arguments are `check_unused`'s.

    Raises:
        PlanError: if a run is writing to it, it is not empty, or it cannot be created.
    """
    check_unused(path, what, instead, rewritten)
    with looking_at(path, f"{what} cannot be made", PlanError):
        path.mkdir(parents=True, exist_ok=True)
    return path


def check_unused(path: Path, what: str, instead: str, rewritten: Collection[str] = ()) -> None:
    """Refuse the folder of a new run, if `claim` would; it is not created yet.

    Args:
        path: of the folder.
        what: what the user typed (`--out mine`), which begins the error.
        instead: what to type to continue the run that the folder holds.
        rewritten: names of files that the run writes before it begins: they do not count.

    Raises:
        PlanError: if a run is writing to it, it is not empty, or it cannot be a folder.
    """
    with looking_at(path, f"{what} cannot be made", PlanError):
        _refuse_used(path, what, instead, rewritten)


def as_typed(run: Run) -> Path:
    """The folder of a run, for what is printed: as it was typed, while that leads to it."""
    assert run.out is not None
    typed = Path(str(run.plan.out))
    return typed if Path(os.path.abspath(typed)) == run.out else run.out


def check_out(plan: Plan, going_on_from: Path | None = None) -> None:
    """Refuse a program's `out` if a run is in it; the folder is not created yet.

    Args:
        plan: of the program's run, which may have no folder.
        going_on_from: the loaded file or folder; its run may continue in the folder that it is in,
            or in the one that holds its `checkpoints`.

    Raises:
        PlanError: if a run is writing to it, it is not empty, or it cannot be a folder.
    """
    out = plan.out
    if out is None:
        return
    with looking_at(Path(out), f"out={out!r} cannot be made", PlanError):
        if going_on_from is None or not continues_in(out, going_on_from):
            _refuse_used(Path(out), f"out={out!r}", _loading(out, plan.kernel))


def _loading(out: str, kernel: Kernel) -> str | None:
    """What a program types to continue the run in `out`; None if nothing there can be loaded."""
    usable = saved_files.serializers(kernel) if Path(out).is_dir() else []
    if not any(one.find(Path(out)) for one in usable):
        return None
    return f"rlk.load({out!r}, out={out!r})"


def continues_in(out: str | Path | None, loaded: Path) -> bool:
    """Whether the run of a loaded file, or of a run folder, continues in the folder `out`."""
    if out is None:
        return False
    path = loaded.resolve()
    folder = path if path.is_dir() else path.parent
    own = (folder, folder.parent) if folder.name == "checkpoints" else (folder,)
    return users_path(out).resolve() in own


def _refuse_used(
    path: Path, what: str, instead: str | None, rewritten: Collection[str] = ()
) -> None:
    if problem := in_use(path):
        raise PlanError(problem)
    if path.exists() and not path.is_dir():
        raise PlanError(f"{what} exists and is not a folder. Name another one.")
    if path.is_dir() and not all(
        _is_left(file) or file.name in rewritten for file in path.iterdir()
    ):
        other = f" or, to continue the run in it: {instead}"
        if instead is None:
            other = (
                "; this one holds no model and no checkpoint, from which its run could continue."
            )
        raise PlanError(f"{what} exists and is not empty. Name another folder{other}")


def _is_left(file: Path) -> bool:
    """Whether a file is what a process that was killed may leave before its run has begun."""
    if file.name in WRITTEN and file.is_dir():
        return all(map(is_unfinished, file.iterdir()))
    return file.name == OWNER or is_unfinished(file)
