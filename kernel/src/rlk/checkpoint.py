"""Checkpoints.

The state of a run as one file, written so that a crash never costs the last good one.

What is in the file is a State (nested dicts of JSON values, arrays and tensors) that a serializer
component writes; loading resolves installed names only and runs nothing from the file.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.errors import BadFile, RlkError
from rlk.protocols import Serializer, State

if TYPE_CHECKING:
    from rlk.kernel import Kernel
    from rlk.run import Run

#: Of what a file holds, not of how the serializer lays it out.
STATE_VERSION = 1


def model_state(run: Run) -> State:
    """What `model.zip` holds.

    Everything that learning goes on from but the replay and the environments.
    """
    return {
        "manifest": {
            "state_version": STATE_VERSION,
            "contents": ["model"],
            "timesteps": run.timesteps,
            "dists": distributions(run),
            "plan": run.plan.as_json()
            | {"run": run.plan.as_json()["run"] | {"seed": run.streams.seed}},
        },
        "parameters": run.parameters.as_dict(),
        "buffers": {name: value.clone() for name, value in run.policy.named_buffers()},
        "algorithm": run.algorithm.state_dict(),
        "optimise": run.optimise.state_dict(),
        "run": run.state_dict(),
        "streams": run.streams.state_dict(),
    }


def run_state(run: Run, *, replay: bool = True) -> State:
    """What a checkpoint holds: with replay and environments, the run goes on bit for bit."""
    state = model_state(run)
    contents = state["manifest"]["contents"]
    contents.append("run")
    state["collector"] = run.collector.state_dict()
    state["plugins"] = plugin_states(run, replay=replay)
    if replay:
        contents.append("storage")
        state["storage"] = run.storage.state_dict()
    environments = environment_states(run)
    if environments is not None:
        contents.append("environments")
        state["environments"] = environments
    return state


def restore(run: Run, state: State) -> list[str]:
    """Put a saved state into a run built from the same plan.

    Returns:
        What will differ from a run that was never interrupted, as sentences; empty if nothing will.

    Raises:
        RlkError: if parameters do not fit; the run is as it was then.
    """
    run.parameters.load_dict(state["parameters"])
    buffers = dict(run.policy.named_buffers())
    for name, value in state["buffers"].items():
        buffers[name].copy_(value)
    run.algorithm.load_state_dict(state["algorithm"])
    run.optimise.load_state_dict(state["optimise"])
    run.load_state_dict(state["run"])
    run.streams.load_state_dict(state["streams"])
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
        run.env.reset(seed=run.streams.integers("environments", run.plan.n_envs))
        run.env.set_state(state["environments"])
        run.collector.load_state_dict(state["collector"])
    else:
        run.collector.forget()
        differs.append(f"the state of {run.plan.env.name} cannot be saved: its episodes start anew")
    return differs


def plugin_states(run: Run, *, replay: bool = True) -> dict[str, State]:
    """What every active plugin has to remember, by its name."""
    return dict(run.hooks.answers("rlk_save", run=run, replay=replay))


def environment_states(run: Run) -> list[Any] | None:
    """The state of every environment, or None if it cannot be had."""
    get_state = getattr(run.env, "get_state", None)
    if get_state is None:
        return None
    states = get_state()
    return None if states is None or any(state is None for state in states) else list(states)


def distributions(run: Run) -> dict[str, str]:
    """dist -> version of everything the run was made of."""
    found = {choice.dist: choice.version for _, choice in run.plan.choices() if choice.version}
    return dict(sorted(found.items()))


def write(path: Path, state: State, serializer: Serializer) -> None:
    """Write a file so that `path` holds either what it held or all of the new state.

    The bytes go to a temporary file beside `path`'s folder, are fsynced, and renamed in.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w+b") as file:
            serializer.write(file, state)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def read(path: Path, kernel: Kernel) -> State:
    """The state in a file, read by the installed serializer that its suffix belongs to.

    Raises:
        BadFile: if it is missing, damaged, too new, or not one of ours.
    """
    serializer = serializer_for(path, kernel)
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
        raise BadFile(
            f"{path} was written by a newer rlk (state {version}, this one reads up to "
            f"{STATE_VERSION}). "
            "Upgrade rlk-kernel."
        )
    return state


def serializer_for(path: Path, kernel: Kernel) -> Serializer:
    """The serializer whose suffix the file has.

    One that can run code must be asked for by name instead.
    """
    suffixes = []
    for name in kernel.registries.serializers.names():
        component = kernel.registries.serializers.get(name).component()
        if "runs code" in component.reports:
            continue
        serializer: Serializer = component.load()()
        if path.suffix == serializer.suffix:
            return serializer
        suffixes.append(serializer.suffix)
    raise BadFile(
        f"{path}: no installed serializer reads {path.suffix!r} files (there are "
        f"{sorted(suffixes)})."
    )


def locate(place: str | os.PathLike[str], *, best: bool = False) -> Path:
    """The file that RUN means: a zip, a checkpoint, or a run folder.

    Of a folder it is `best_model.zip` (with `best`), else `model.zip`, else the newest checkpoint.

    Raises:
        BadFile: if there is none.
    """
    path = Path(place)
    if path.is_file():
        return path
    if not path.exists() and path.with_name(path.name + ".zip").is_file():
        return path.with_name(path.name + ".zip")
    if path.is_dir():
        models = [*([path / "best_model.zip"] if best else []), path / "model.zip"]
        for model in (*models, *reversed(checkpoints(path))):
            if model.is_file():
                return model
        raise BadFile(f"{path} holds no model.zip and no checkpoint.")
    raise BadFile(f"{path} does not exist. RUN is a run folder, a model.zip or a checkpoint.")


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints of a run folder, oldest first."""
    found = (folder / "checkpoints").glob("*.zip")
    return sorted((p for p in found if p.stem.isdigit()), key=lambda p: int(p.stem))


def save(run: Run, path: Path, *, whole: bool = False, replay: bool = True) -> Path:
    """Write `model.zip` (or with `whole` a checkpoint) of a run; of several ranks, rank 0 does.

    Returns the path with its suffix.
    """
    serializer: Serializer = run.plan.serializer.make()
    if path.suffix != serializer.suffix:
        path = path.with_name(path.name + serializer.suffix)
    if path.is_dir():
        raise RlkError(f"cannot save to {path}: it is a folder.")
    if run.communicator.rank != 0:
        return path
    write(path, run_state(run, replay=replay) if whole else model_state(run), serializer)
    return path
