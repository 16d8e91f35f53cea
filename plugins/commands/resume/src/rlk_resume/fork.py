"""A fork: the folder of a run that continues from the checkpoint of another run.

The files of the part before the checkpoint are copied. Components that append rows to a file drop
the rows after the checkpoint, as in every resumed run.
"""

from __future__ import annotations

import contextlib
import math
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, PlanError, RlkError
from rlk.files import replacing
from rlk.restoring.lost_settings import marked_fields
from rlk.restoring.saved_plan import as_json
from rlk.running.folder_owner import OwnedFolder
from rlk.saving import saved_files
from rlk_cli.folder import check_wanted, choose, write_plan
from rlk_resume.found import CHECKPOINTS, Found, folder_of

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.registry.kernel import Kernel

#: Files of rows, to which runs append: metrics, episodes, events.
ROWS = ("*.csv", "events.out.tfevents.*")
#: The best model of the first evaluation, and of further ones of the same run.
BEST = ("best_model", "best_model-[0-9]*")


def check_fork(found: Found, plan: Plan) -> None:
    """Refuse a fork for what its plan and its folder are; nothing is read or written yet.

    Args:
        found: the checkpoint.
        plan: of the fork. If it has no folder (because another rank has it), nothing is refused.

    Raises:
        PlanError: if no timesteps are left to train, the folder is not empty, or a setting names a
            file of the other run.
    """
    if plan.out is None:
        return
    path, timesteps = found.path, found.timesteps
    if timesteps >= plan.total_timesteps:
        raise PlanError(
            f"{path} is at {timesteps:,} timesteps, so nothing is left to train in {plan.out}. "
            "Give --timesteps a larger number, or fork an earlier checkpoint."
        )
    refuse_files_of_the_other(folder_of(path), found.plan, plan)
    check_wanted(plan.out)


@contextlib.contextmanager
def forked(found: Found, plan: Plan) -> Iterator[OwnedFolder | None]:
    """Copy the files up to the checkpoint to the plan's folder; remove them if the context fails.

    If this process is killed meanwhile, the folder counts as empty until all of them are copied. It
    has a plan only when it is a whole run.

    Args:
        found: the checkpoint, which is copied as well, so that the fork can itself be resumed.
        plan: of the fork. If it has no folder (because another rank has it), nothing is copied.

    Yields:
        The folder of the fork, or None; whoever trains in it releases it.

    Raises:
        PlanError: if the folder is not empty, or another process owns it.
        RlkError: if a file cannot be copied.
    """
    if plan.out is None:
        yield None
        return
    is_new = not Path(plan.out).exists()
    out = choose(plan.out, plan)
    owned = OwnedFolder(out)
    try:
        _copy(found.path, folder_of(found.path), found.timesteps, plan)
        write_plan(out, as_json(plan))
        yield owned
    except BaseException:
        owned.release()
        _remove(out, is_new)
        raise


def refuse_files_of_the_other(source: Path | None, saved: Mapping[str, Any], plan: Plan) -> None:
    """Raise PlanError for a setting that names a file to which the other run writes.

    Args:
        source: the folder of that run, if there is one.
        saved: the plan of that run, as in its checkpoint.
        plan: of the fork.
    """
    theirs = {one["name"]: one["settings"] for one in saved["components"]}
    for choice in plan.choices():
        for name in marked_fields(choice.component.config, "written"):
            value, before = getattr(choice.config, name), theirs.get(choice.name, {}).get(name)
            if value is None:
                continue
            place = Path(value).resolve()
            is_same = before is not None and place == Path(before).resolve()
            if is_same or (source is not None and place.is_relative_to(source.resolve())):
                key = f"{choice.name}.{name}"
                raise PlanError(
                    f"{key}={value} belongs to the run that is forked, which stays as it is. Name "
                    f"another: --set {key}=…"
                )


def _copy(path: Path, source: Path | None, timesteps: int, plan: Plan) -> None:
    """Copy the checkpoint, the rows, and the best models that are not newer than the checkpoint."""
    assert plan.out is not None
    out, suffix = Path(plan.out), saved_files.find(path, plan.kernel)[1].suffix
    copies = {path: out / CHECKPOINTS / f"{timesteps}{suffix}"}
    if source is not None:
        rows = [file for pattern in ROWS for file in source.glob(pattern) if file.is_file()]
        copies |= {
            file: out / file.name for file in (*rows, *_best(source, timesteps, plan.kernel))
        }
    try:
        # Files get their names when all are written, the checkpoint after the others.
        with contextlib.ExitStack() as unfinished:
            for file, copy in copies.items():
                target = unfinished.enter_context(replacing(copy))
                with file.open("rb") as source_file:
                    shutil.copyfileobj(source_file, target)
    except OSError as error:
        raise RlkError(f"{path} cannot be forked into {out}: {error}.") from error


def _best(source: Path, timesteps: int, kernel: Kernel) -> Iterator[Path]:
    """The best model of each evaluation, unless it is newer than the checkpoint."""
    for serializer in saved_files.serializers(kernel):
        for name in BEST:
            for best in sorted(source.glob(f"{name}{serializer.suffix}")):
                if best.is_file() and _timesteps_of(best, kernel) <= timesteps:
                    yield best


def _timesteps_of(model: Path, kernel: Kernel) -> float:
    """When a model was saved; infinity for a file that cannot be read."""
    try:
        return int(saved_files.read_manifest(model, kernel)["timesteps"])
    except BadFile:
        return math.inf


def _remove(out: Path, is_new: bool) -> None:
    """Restore the folder: empty, or deleted if it did not exist."""
    for file in out.iterdir():
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink()
    if is_new:
        out.rmdir()
