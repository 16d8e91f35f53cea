"""Files of saved states: writing one, finding the one that RUN means, and reading it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from rlk import settings
from rlk.documents import read_json
from rlk.errors import BadFile, BrokenPlugin, PlanError, RlkError, described
from rlk.files import looking_at, users_path
from rlk.planning.choice import Choice
from rlk.protocols import Serializer, State
from rlk.restoring.saved_plan import PLAN
from rlk.restoring.saved_records import SavedComponent, SavedPlan, how_to_get
from rlk.running.folder_owner import in_use
from rlk.saving.checkpoint import model_state
from rlk.saving.manifest import Part, check_manifest
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.registry.entry import Entry
    from rlk.registry.kernel import Kernel
    from rlk.running.run import Run

#: What to do about a file that lacks a part.
_WITHOUT: Mapping[Part, str] = {
    "model": "A replay alone is loaded by an agent: agent.load_replay_buffer(…).",
    "storage": "Checkpoints hold those of the replay (runs/NAME/checkpoints/…, unless they were "
    "told to leave it out), and so do files of agent.save_replay_buffer(…).",
}


def save(run: Run, path: Path, compose: Callable[..., State] = model_state, **how: Any) -> Path:
    """Write `compose(run, **how)`; with several ranks, only the first one writes.

    Returns:
        The path, with the suffix of the serializer.

    Raises:
        PlanError: if the path does not name a file, or names a model and the state has none.
        OSError: if it cannot be written.
    """
    path = users_path(path)
    if not path.name:
        raise PlanError(f"cannot save to {str(path)!r}, a folder: name a file in it.")
    serializer: Serializer = run.plan.serializer.make()
    if not path.name.endswith(serializer.suffix):
        path = path.with_name(path.name + serializer.suffix)
    if run.communicator.rank == 0:
        state = compose(run, **how)
        if "model" not in state["manifest"]["contents"]:
            refuse_to_lose_a_model(path, serializer)
        serializer.write(path, state)
    return path


def save_as_asked(run: Run, path: Path, *compose: Callable[..., State], **how: Any) -> Path:
    """`save`, for a path that a program gave; RlkError if it cannot be written."""
    with looking_at(users_path(path), f"cannot save to {path}", RlkError):
        return save(run, path, *compose, **how)


def refuse_to_lose_a_model(path: Path, serializer: Serializer) -> None:
    """Raise PlanError if the file that a replay alone would replace holds a model."""
    if not path.is_file():
        return
    try:
        contents = serializer.manifest(path).get("contents", [])
    except BadFile:
        return  # nothing of rlk's
    if "model" in contents:
        other = path.with_name(f"{path.name.removesuffix(serializer.suffix)}_replay")
        raise PlanError(
            f"cannot save the replay to {path}: that file holds a model, which would be lost. "
            f"Name another one: save_replay_buffer({str(other)!r})."
        )


def serializers(kernel: Kernel) -> list[Serializer]:
    """The installed serializers, without broken ones and those that run code from a file."""
    found = []
    for entry in kernel.registries.serializers:
        with contextlib.suppress(BrokenPlugin):
            if not entry.component().runs_code:
                found.append(_made(entry))
    return found


def _made(entry: Entry) -> Serializer:
    """The serializer of an entry, with its own defaults; BrokenPlugin if it cannot be made."""
    choice = Choice.of(entry)
    try:
        config = settings.structure(choice.component.config, {}, entry.title)
        serializer: Serializer = attrs.evolve(choice, config=config).make()
    except BrokenPlugin:
        raise
    except Exception as error:
        raise entry.broken(described(error)) from error
    return serializer


def find(place: Path, kernel: Kernel, *, best: bool = False) -> tuple[Path, Serializer]:
    """The file that RUN means, and the serializer that reads it.

    Args:
        place: a run folder, a model or a checkpoint.
        kernel: where serializers come from.
        best: in a run folder, the best model of its evaluations.

    Raises:
        BadFile: if no installed serializer finds a file there, or the place cannot be read.
    """
    place, usable = users_path(place), serializers(kernel)
    with looking_at(place, f"cannot read {place}"):
        for one in usable:
            if (path := one.find(place, best)) is not None:
                return path, one
        raise BadFile(_nothing_at(place, usable, kernel, best))


def _nothing_at(place: Path, usable: Sequence[Serializer], kernel: Kernel, best: bool) -> str:
    """What is wrong with a place where no serializer finds a file, and what to do."""
    known, why = sorted(one.suffix for one in usable), why_unreadable(place, kernel)
    if not known:
        return f"{place}: no installed serializer can be used. {why or 'Type: rlk doctor'}"
    if place.is_dir():
        found = f"{place} holds no model{'/'.join(known)} and no checkpoint."
        if (place / PLAN).exists():
            return f"{found} {why or _why_none(place)}"
        return " ".join(filter(None, [found, why, _runs_in(place, usable, best)]))
    if not place.exists():
        if place.name.endswith(tuple(known)):
            return f"the file {place} does not exist."
        files = " or ".join(f"{place}{suffix}" for suffix in known)
        return f"{place} does not exist, and the file {files} does not, either. {why}".rstrip()
    if not place.is_file():
        return f"{place} is neither a file nor a folder."
    others = f"{place.suffix!r} files; they read {' and '.join(known)}"
    return f"{place}: no installed serializer reads {others}. {why}".rstrip()


def why_unreadable(place: Path, kernel: Kernel) -> str:
    """A sentence if the run that a place belongs to was saved by an absent serializer, or "".

    Args:
        place: a run folder, its folder of checkpoints, or a file in one of them; it may not exist.
        kernel: where serializers come from.
    """
    saved = _serializer_of_run(place)
    absence = saved and saved.absence(kernel.registries)
    if not (saved and absence):
        return ""
    return f"The run's files are written by {saved.title}: {absence}; {how_to_get([saved])}."


def _serializer_of_run(place: Path) -> SavedComponent | None:
    """The serializer in the plan of the run that a place belongs to; None if no plan says so."""
    for folder in (place, *place.absolute().parents[:2]):
        if plan := _plan_in(folder):
            return next((one for one in plan.components if one.role == "serializer"), None)
    return None


def _plan_in(folder: Path) -> SavedPlan | None:
    """The plan of the run in a folder; None if there is none, or it is damaged."""
    if (folder / PLAN).is_file():
        with contextlib.suppress(BadFile):  # a damaged plan only means less advice
            return structured(SavedPlan, read_json(folder / PLAN), "the saved plan")
    return None


def _runs_in(folder: Path, usable: Sequence[Serializer], best: bool) -> str:
    """A sentence that names the newest run folder in a folder, or nothing."""
    runs = [run for run in folder.glob("*/") if any(one.find(run, best) for one in usable)]
    newest = max(runs, key=lambda run: run.stat().st_mtime, default=None)
    return "" if newest is None else f"It holds run folders; name one of them: {newest}"


def _why_none(folder: Path) -> str:
    """Why the folder of a run holds neither a model nor a checkpoint, and what to do."""
    saves = "--plugin checkpoint, or in Python agent.save(path)."
    if owner := in_use(folder):
        return f"It is the folder of a run that has saved none yet. {owner} What saves one: {saves}"
    return (
        "It is the folder of a run that has saved none. Train it again, in another folder, with "
        f"what saves one: {saves}"
    )


def read(place: Path, kernel: Kernel, *, best: bool = False, part: Part = "model") -> State:
    """The state in the file that RUN means (see `find`).

    Args:
        place: a run folder, a model, a checkpoint or a replay.
        kernel: where serializers come from.
        best: in a run folder, the best model of its evaluations.
        part: the part that it must hold.

    Raises:
        BadFile: if it is damaged, written by a newer rlk, not a file of rlk's, or lacks that part.
    """
    path, state = _read(place, kernel, best, lambda serializer, path: serializer.read(path))
    check_manifest(path, state.get("manifest"))
    _check_part(path, state["manifest"], part)
    return state


def read_manifest(
    place: Path, kernel: Kernel, *, best: bool = False, part: Part | None = None
) -> State:
    """Only the manifest of the file that RUN means; the rest may be large.

    The arguments are those of `read`; without `part`, the file may hold any.

    Raises:
        BadFile: if it is visibly damaged, written by a newer rlk, not a file of rlk's, or lacks
            that part.
    """
    path, manifest = _read(place, kernel, best, lambda serializer, path: serializer.manifest(path))
    check_manifest(path, manifest)
    if part is not None:
        _check_part(path, manifest, part)
    return manifest


def _read(
    place: Path, kernel: Kernel, best: bool, reads: Callable[[Serializer, Path], State]
) -> tuple[Path, State]:
    """The file that RUN means, and what is read of it.

    A run that trains may remove a checkpoint after it was found: then the next one is found.
    """
    removed = set[Path]()
    while True:
        path, serializer = find(place, kernel, best=best)
        try:
            return path, reads(serializer, path)
        except BadFile:
            was_removed = users_path(place).is_dir() and not path.exists()
            if path in removed or not was_removed:
                raise
            removed.add(path)


def _check_part(path: Path, manifest: State, part: Part) -> None:
    """BadFile, with what to do, unless the file holds this part."""
    if part not in manifest["contents"]:
        missing = "transitions" if part == "storage" else part
        raise BadFile(f"{path} holds no {missing}. {_WITHOUT[part]}")
