"""Files of saved states: writing one, finding the one that RUN means, and reading it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, PlanError
from rlk.files import looking_at
from rlk.planning.saved_plan import PLAN
from rlk.protocols import Serializer, State
from rlk.running.checkpoint import model_state
from rlk.running.folder_owner import in_use
from rlk.running.manifest import Part, check_manifest

if TYPE_CHECKING:
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
    """
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
    """The installed serializers, without those that run code from a file."""
    components = [entry.component() for entry in kernel.registries.serializers]
    return [component.load()() for component in components if not component.runs_code]


def find(place: Path, kernel: Kernel, *, best: bool = False) -> tuple[Path, Serializer]:
    """The file that RUN means, and the serializer that reads it.

    Args:
        place: a run folder, a model or a checkpoint.
        kernel: where serializers come from.
        best: in a run folder, the best model of its evaluations.

    Raises:
        BadFile: if no installed serializer finds a file there, or the place cannot be read.
    """
    installed = serializers(kernel)
    with looking_at(place, f"cannot read {place}"):
        return _find(place, installed, best)


def _find(place: Path, installed: list[Serializer], best: bool) -> tuple[Path, Serializer]:
    for serializer in installed:
        path = serializer.find(place, best)
        if path:
            return path, serializer
    known = sorted(serializer.suffix for serializer in installed)
    model = f"model{'/'.join(known)}"
    if place.is_dir():
        runs = [run for run in place.glob("*/") if any(one.find(run, best) for one in installed)]
        newest = max(runs, key=lambda run: run.stat().st_mtime, default=None)
        there_is = "" if newest is None else f" It holds run folders; name one of them: {newest}"
        if (place / PLAN).exists():
            there_is = _why_none(place)
        raise BadFile(f"{place} holds no {model} and no checkpoint.{there_is}")
    if not place.exists():
        if place.name.endswith(tuple(known)):
            raise BadFile(f"the file {place} does not exist.")
        files = " or ".join(f"{place}{suffix}" for suffix in known)
        raise BadFile(f"{place} does not exist, and the file {files} does not, either.")
    if not place.is_file():
        raise BadFile(f"{place} is neither a file nor a folder.")
    there_are = f"{place.suffix!r} files (there are {known})"
    raise BadFile(f"{place}: no installed serializer reads {there_are}.")


def _why_none(folder: Path) -> str:
    """Why the folder of a run holds neither a model nor a checkpoint, and what to do."""
    saves = "--plugin checkpoint, or in Python agent.save(path)."
    if owner := in_use(folder):
        return (
            f" It is the folder of a run that has saved none yet. {owner} What saves one: {saves}"
        )
    return (
        " It is the folder of a run that has saved none. Train it again with what saves one: "
        f"{saves}"
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
    path, serializer = find(place, kernel, best=best)
    state = serializer.read(path)
    check_manifest(path, state.get("manifest"))
    if part not in state["manifest"]["contents"]:
        missing = "transitions" if part == "storage" else part
        raise BadFile(f"{path} holds no {missing}. {_WITHOUT[part]}")
    return state


def read_manifest(place: Path, kernel: Kernel, *, best: bool = False) -> State:
    """Only the manifest of the file that RUN means; the rest may be large.

    The arguments are those of `read`.

    Raises:
        BadFile: if it is visibly damaged, written by a newer rlk, or not a file of rlk's.
    """
    path, serializer = find(place, kernel, best=best)
    manifest = serializer.manifest(path)
    check_manifest(path, manifest)
    return manifest
