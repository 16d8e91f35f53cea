"""Checkpoints: the state of a run as one file; a crash never costs the last good one. What is in
the file is a State (nested dicts of JSON values, arrays and tensors) that a serializer component
writes; loading resolves installed names only and runs nothing from the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from rlk.errors import BadFile, RlkError
from rlk.protocols import Serializer, State

if TYPE_CHECKING:
    from rlk.kernel import Kernel
    from rlk.run import Run

#: Of what a file holds, not of how the serializer lays it out.
STATE_VERSION = 1
#: The parts of a run that every file holds, by their names in both.
PARTS = ("parameters", "algorithm", "optimise", "streams")


def model_state(run: Run) -> State:
    """What `model.zip` holds: all that learning goes on from but the replay and environments."""
    plan = run.plan.as_json()
    plan["run"] |= {"seed": run.streams.seed}
    dists = {choice.dist: choice.version for _, choice in run.plan.choices() if choice.version}
    return {
        "manifest": {
            "state_version": STATE_VERSION,
            "contents": ["model"],
            "timesteps": run.timesteps,
            "dists": dict(sorted(dists.items())),
            "plan": plan,
        },
        "buffers": {name: value.clone() for name, value in run.policy.named_buffers()},
        "run": run.state_dict(),
        **{part: getattr(run, part).state_dict() for part in PARTS},
    }


def run_state(run: Run, *, replay: bool = True) -> State:
    """What a checkpoint holds: with replay and environments, the run goes on bit for bit."""
    state = model_state(run)
    contents = state["manifest"]["contents"]
    contents.append("run")
    state["collector"] = run.collector.state_dict()
    state["plugins"] = dict(run.hooks.answers("rlk_save", run=run, replay=replay))
    if replay:
        contents.append("storage")
        state["storage"] = run.storage.state_dict()
    environments = run.env.get_state() if hasattr(run.env, "get_state") else None
    if environments is not None and all(one is not None for one in environments):
        contents.append("environments")
        state["environments"] = list(environments)
    return state


def restore(run: Run, state: State) -> list[str]:
    """Put a saved state into a run built from the same plan.

    Returns:
        What will differ from a run that was never interrupted, as sentences; empty if nothing will.

    Raises:
        RlkError: if parameters do not fit; the run is as it was then."""
    for part in PARTS:
        getattr(run, part).load_state_dict(state[part])
    run.load_state_dict(state["run"])
    buffers = dict(run.policy.named_buffers())
    for name, value in state["buffers"].items():
        buffers[name].copy_(value)
    run.refresh_schedules()
    run.parameters.check()
    contents = state["manifest"]["contents"]
    if "run" not in contents:
        return ["this is a model, not a checkpoint: replay, environments and callbacks start anew"]
    differs = []
    for name, saved in state["plugins"].items():
        run.hooks.tell(name, "rlk_load", run=run, state=saved)
    if "storage" in contents:
        run.storage.load_state_dict(state["storage"])
    else:
        differs.append("the replay was left out of the checkpoint and fills up anew")
    if "environments" in contents and hasattr(run.env, "set_state"):
        run.env.reset(seed=run.streams.integers("environments", run.n_envs))
        run.env.set_state(state["environments"])
        run.collector.load_state_dict(state["collector"])
    else:
        run.collector.forget()
        differs.append(f"the checkpoint has no state of {run.plan.env.name}: episodes start anew")
    return differs


def write(path: Path, state: State, serializer: Serializer) -> None:
    """Write a file so that `path` holds either what it held or all of the new state."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with aside.open("w+b") as file:
            serializer.write(file, state)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: Path, kernel: Kernel) -> State:
    """The state in a file, read by the installed serializer that its suffix belongs to.

    Raises:
        BadFile: if it is missing, damaged, too new, or not one of ours."""
    serializer = _serializer_for(path, kernel)
    try:
        with path.open("rb") as file:
            state = serializer.read(file)
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror}.") from None
    except BadFile as error:
        raise BadFile(f"{path}: {error}") from None
    manifest = state.get("manifest", {})
    version = manifest.get("state_version")
    if not isinstance(version, int) or "plan" not in manifest:
        raise BadFile(f"{path} is no rlk model: its manifest has no plan.")
    if version > STATE_VERSION:
        known = f"(state {version}, this one reads up to {STATE_VERSION})"
        raise BadFile(f"{path} was written by a newer rlk {known}. Upgrade rlk-kernel.")
    return state


def _serializer_for(path: Path, kernel: Kernel) -> Serializer:
    """The serializer of the file's suffix; none that can run code."""
    components = [entry.component() for entry in kernel.registries.serializers]
    made = [one.load()() for one in components if "runs code" not in one.reports]
    safe: dict[str, Serializer] = {one.suffix: one for one in made}
    if path.suffix not in safe:
        found = f"{path.suffix!r} files (there are {sorted(safe)})"
        raise BadFile(f"{path}: no installed serializer reads {found}.")
    return safe[path.suffix]


def locate(place: str | os.PathLike[str], *, best: bool = False) -> Path:
    """The file that RUN means: a zip, a checkpoint, or of a run folder `best_model.zip` (with
    `best`), else `model.zip`, else the newest checkpoint.

    Raises:
        BadFile: if there is none."""
    path = Path(place)
    if path.is_dir():
        models = [path / "best_model.zip"] if best else []
        models += [path / "model.zip", *reversed(checkpoints(path))]
        lacks = "holds no model.zip and no checkpoint"
    else:
        models = [path, path.with_name(path.name + ".zip")]
        lacks = "does not exist. RUN is a run folder, a model.zip or a checkpoint"
    for model in models:
        if model.is_file():
            return model
    raise BadFile(f"{path} {lacks}.")


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run folder, oldest first."""
    found = (folder / "checkpoints").glob("*.zip")
    return sorted((p for p in found if p.stem.isdigit()), key=lambda p: int(p.stem))


def save(run: Run, path: Path, *, whole: bool = False, replay: bool = True) -> Path:
    """Write a run's model (or with `whole` a checkpoint); the path with its suffix. Of several
    ranks the first writes."""
    serializer: Serializer = run.plan.serializer.make()
    if path.suffix != serializer.suffix:
        path = path.with_name(path.name + serializer.suffix)
    if path.is_dir():
        raise RlkError(f"cannot save to {path}: it is a folder.")
    if run.communicator.rank != 0:
        return path
    write(path, run_state(run, replay=replay) if whole else model_state(run), serializer)
    return path
