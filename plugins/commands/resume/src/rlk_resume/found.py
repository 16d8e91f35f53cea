"""What RUN refers to: the checkpoint that a run continues from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk.command_line import command_line, path_word
from rlk.errors import BadFile, PlanError
from rlk.files import looking_at
from rlk.restoring.saved_plan import PLAN
from rlk_model_files.locate import checkpoints

if TYPE_CHECKING:
    from rlk.registry.kernel import Kernel

#: The folder of checkpoints in a run folder.
CHECKPOINTS = "checkpoints"
NO_MODEL = (
    "A model alone cannot be resumed; a new run begins with its policy: rlk run --algo NAME "
    "--env ENV --plugin model-start:path=MODEL"
)


@attrs.frozen(kw_only=True)
class Found:
    """What a run continues from.

    Attributes:
        path: the checkpoint.
        before: the checkpoints before it, to name one if it is damaged.
        plan: the plan in it, as in files.
        timesteps: at which the run continues.
    """

    path: Path
    before: tuple[Path, ...] = ()
    plan: Mapping[str, Any]
    timesteps: int

    @property
    def folder(self) -> Path:
        """The run folder; PlanError if the checkpoint is not in one."""
        folder = folder_of(self.path)
        if folder is None:
            raise PlanError(
                f"{self.path} is not in the folder `checkpoints` of a run folder. Name a folder to "
                f"continue in: {resuming(self.path, '--out', 'DIR')}"
            )
        return folder


def find(place: Path, kernel: Kernel, *, owned: bool = False) -> Found:
    """What RUN refers to: one file, or a folder whose last checkpoint counts.

    Args:
        place: the file or the folder.
        kernel: where serializers come from.
        owned: whether this process owns the folder, so that no run writes to it meanwhile.

    Raises:
        BadFile: if there is nothing to continue from, or it cannot be read.
        PlanError: if the folder has no checkpoint yet, and a process trains in it.
    """
    from rlk.saving import saved_files

    with looking_at(place, f"cannot read {place}"):
        *before, path = _checkpoints_of(place, kernel, owned=owned)
    with saying_what_to_do(path, before):
        manifest = saved_files.read_manifest(path, kernel)
    if "run" not in manifest["contents"]:
        raise BadFile(f"{path} is not a checkpoint. {_instead(path, kernel)}")
    return Found(
        path=path,
        before=tuple(before),
        plan=manifest["plan"],
        timesteps=manifest["timesteps"],
    )


def _checkpoints_of(place: Path, kernel: Kernel, *, owned: bool) -> list[Path]:
    """The checkpoints that RUN refers to, at least one."""
    from rlk.running.folder_owner import in_use
    from rlk.saving import saved_files

    serializers = saved_files.serializers(kernel)
    if place.is_dir():
        if found := checkpoints(place, *(one.suffix for one in serializers)):
            return found
        has_plan = (place / PLAN).exists()
        if has_plan and (why := saved_files.why_unreadable(place, kernel)):
            raise BadFile(f"{place} holds no checkpoint that can be read. {why}")
        if not owned and (owner := in_use(place)):  # it may still write some
            raise PlanError(f"{place} holds no checkpoint yet. {owner}")
        if any(one.find(place) for one in serializers):
            raise BadFile(f"{place} holds no checkpoint. {NO_MODEL}")
    return [saved_files.find(place, kernel)[0]]  # if nothing is there, an error that says so


def _instead(model: Path, kernel: Kernel) -> str:
    """What to type instead of the file of a model, which cannot be resumed."""
    from rlk.saving import saved_files

    suffixes = [one.suffix for one in saved_files.serializers(kernel)]
    if checkpoints(model.parent, *suffixes):
        return f"Type: {resuming(model.parent)}"
    return NO_MODEL


@contextlib.contextmanager
def saying_what_to_do(path: Path, before: Sequence[Path]) -> Iterator[None]:
    """While a checkpoint is read: an error says what to do.

    For one that the run has removed since it was found, that names who trains in its folder; for a
    damaged one the previous checkpoint, if any.
    """
    try:
        yield
    except BadFile as error:
        if not path.exists() and (owner := _who_trains(path)):
            raise PlanError(f"{path} is gone. {owner}") from error
        if not before:
            raise
        typed = resuming(before[-1])
        raise BadFile(f"{error} To continue from the one before it: {typed}") from error


def _who_trains(path: Path) -> str | None:
    """Who trains in the run folder of a checkpoint, which thus cannot be resumed; or None."""
    from rlk.running.folder_owner import in_use

    folder = folder_of(path)
    return None if folder is None else in_use(folder)


def folder_of(path: Path) -> Path | None:
    """The run folder that a checkpoint is in; None if it is not in one."""
    folders = (path.parent, path.resolve().parent)
    return next((folder.parent for folder in folders if folder.name == CHECKPOINTS), None)


def resuming(place: Path, *options: str) -> str:
    """What to type to resume a run folder or a checkpoint."""
    return command_line(["rlk", "resume", path_word(place), *options])
