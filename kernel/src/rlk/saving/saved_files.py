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
from rlk.saving.manifest import Content, check_manifest
from rlk.structure import structured

if TYPE_CHECKING:
    from rlk.registry.entry import Entry
    from rlk.registry.kernel import Kernel
    from rlk.running.run import Run

#: What to do about a file that does not hold what is wanted.
_WITHOUT: Mapping[Content, str] = {
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


def find(path: Path, kernel: Kernel, *, best: bool = False) -> tuple[Path, Serializer]:
    """The file that RUN means, and the serializer that reads it.

    Args:
        path: a run folder, a model or a checkpoint.
        kernel: where serializers come from.
        best: in a run folder, the best model of its evaluations.

    Raises:
        BadFile: if no installed serializer finds a file there, or the path cannot be read.
    """
    path, usable = users_path(path), serializers(kernel)
    with looking_at(path, f"cannot read {path}"):
        for one in usable:
            if (file := one.find(path, best)) is not None:
                return file, one
        raise BadFile(_nothing_at(path, usable, kernel, best))


def _nothing_at(path: Path, usable: Sequence[Serializer], kernel: Kernel, best: bool) -> str:
    """What is wrong with a path where no serializer finds a file, and what to do."""
    known, why = sorted(one.suffix for one in usable), why_unreadable(path, kernel)
    if not known:
        return f"{path}: no installed serializer can be used. {why or 'Type: rlk doctor'}"
    if path.is_dir():
        found = f"{path} holds no model{'/'.join(known)} and no checkpoint."
        if (path / PLAN).exists():
            return f"{found} {why or _why_none(path)}"
        return " ".join(filter(None, [found, why, _runs_in(path, usable, best)]))
    if not path.exists():
        if path.name.endswith(tuple(known)):
            return f"the file {path} does not exist."
        files = " or ".join(f"{path}{suffix}" for suffix in known)
        return f"{path} does not exist, and the file {files} does not, either. {why}".rstrip()
    if not path.is_file():
        return f"{path} is neither a file nor a folder."
    others = f"{path.suffix!r} files; they read {' and '.join(known)}"
    return f"{path}: no installed serializer reads {others}. {why}".rstrip()


def why_unreadable(path: Path, kernel: Kernel) -> str:
    """A sentence if the run that a path belongs to was saved by an absent serializer, or "".

    Args:
        path: a run folder, its folder of checkpoints, or a file in one of them; it may not exist.
        kernel: where serializers come from.
    """
    saved = _serializer_of_run(path)
    absence = saved and saved.absence(kernel.registries)
    if not (saved and absence):
        return ""
    return f"The run's files are written by {saved.title}: {absence}; {how_to_get([saved])}."


def _serializer_of_run(path: Path) -> SavedComponent | None:
    """The serializer in the plan of the run that a path belongs to; None if no plan says so."""
    for folder in (path, *path.absolute().parents[:2]):
        if (folder / PLAN).is_file():
            with contextlib.suppress(BadFile):  # a damaged plan only means less advice
                plan = structured(SavedPlan, read_json(folder / PLAN), "the saved plan")
                return next((one for one in plan.components if one.role == "serializer"), None)
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


def read(path: Path, kernel: Kernel, *, best: bool = False, content: Content = "model") -> State:
    """The state in the file that RUN means (see `find`).

    Args:
        path: a run folder, a model, a checkpoint or a replay.
        kernel: where serializers come from.
        best: in a run folder, the best model of its evaluations.
        content: what it must hold.

    Raises:
        BadFile: if it is damaged, written by a newer rlk, not rlk's, or does not hold that.
    """
    file, state = _read(path, kernel, best, lambda serializer, file: serializer.read(file))
    check_manifest(file, state.get("manifest"))
    _check_content(file, state["manifest"], content)
    return state


def read_manifest(
    path: Path, kernel: Kernel, *, best: bool = False, content: Content | None = None
) -> State:
    """Only the manifest of the file that RUN means; the rest may be large.

    The arguments are those of `read`; without `content`, the file may hold anything.

    Raises:
        BadFile: if it is visibly damaged, written by a newer rlk, not rlk's, or does not hold that.
    """
    file, manifest = _read(path, kernel, best, lambda serializer, file: serializer.manifest(file))
    check_manifest(file, manifest)
    if content is not None:
        _check_content(file, manifest, content)
    return manifest


def _read(
    path: Path, kernel: Kernel, best: bool, reads: Callable[[Serializer, Path], State]
) -> tuple[Path, State]:
    """The file that RUN means, and what is read of it.

    A run that trains may remove a checkpoint after it was found: then the next one is found.
    """
    removed = set[Path]()
    while True:
        file, serializer = find(path, kernel, best=best)
        try:
            return file, reads(serializer, file)
        except BadFile:
            was_removed = users_path(path).is_dir() and not file.exists()
            if file in removed or not was_removed:
                raise
            removed.add(file)


def _check_content(file: Path, manifest: State, content: Content) -> None:
    """BadFile, with what to do, unless the file holds this."""
    if content not in manifest["contents"]:
        missing = "transitions" if content == "storage" else content
        raise BadFile(f"{file} holds no {missing}. {_WITHOUT[content]}")
