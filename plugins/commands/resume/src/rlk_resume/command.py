"""`rlk resume`: continues a run. Modules that are slow to import are imported when called."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlk.command_line import command_line, path_word
from rlk.errors import BadFile, PlanError
from rlk.files import looking_at
from rlk.planning.saved_plan import PLAN
from rlk.registry.kernel import default_kernel
from rlk_cli.completion import files, folders
from rlk_cli.options import SHARED, given, typed_verbosity
from rlk_cli.train import explain, take_over, train_to_the_end
from rlk_model_files.locate import checkpoints
from rlk_resume.schedules import end_schedules

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.protocols import State
    from rlk.registry.kernel import Kernel

#: About a run that was killed.
NONE_SAVED = (
    "The run has saved none: without an interval there is only the one that Ctrl-C or the end "
    "writes. Next time: rlk run … --plugin checkpoint:every=10000"
)
NO_MODEL = (
    "A model alone cannot be resumed; a new run begins with its policy: rlk run --algo NAME "
    "--env ENV --plugin model-start:path=MODEL"
)


@click.command(params=list(SHARED))
@click.argument("run", metavar="RUN", shell_complete=files)
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=folders,
    help="Continue in this new folder and leave RUN unchanged (a fork of the run).",
)
def resume(
    run: str,
    out: str | None,
    env: str | None,
    plugins: tuple[str, ...],
    quiet: bool,
    verbosity: int,
    explained: bool,
    **options: Any,
) -> int:
    """Continue a run from its last checkpoint.

    RUN is a run folder, or one checkpoint in it. If the environment or a plugin came from a file of
    your own, give --env or --plugin again, because a saved file must not run code.
    """
    from rlk.planning.other_environment import check_spaces_of_saved
    from rlk.planning.resolve import resolve
    from rlk.planning.saved_plan import spec_of
    from rlk.planning.spec import make_spec
    from rlk.running import saved_files
    from rlk_resume.fork import check_fork

    kernel = default_kernel()
    *before, path = checkpoints_of(Path(run), kernel)
    with saying_what_to_do(path, before):
        manifest = saved_files.read_manifest(path, kernel)
    if "run" not in manifest["contents"]:
        raise BadFile(f"{path} is not a checkpoint. {what_instead(path, kernel)}")
    changes = {"verbose": 1} | given(**options, verbose=typed_verbosity(quiet, verbosity))
    spec = spec_of(
        manifest["plan"], kernel, env=env, plugins=plugins, changes=changes, observers=True
    )
    spec = make_spec("", {"out": out or str(own_folder(path))}).over(spec)
    plan = resolve(kernel, spec)
    check_spaces_of_saved(manifest["plan"]["env"], plan, str(path))
    if out is not None:
        check_fork(path, manifest, plan)
    if explained:
        return explain(plan, spec)
    if manifest["timesteps"] >= plan.total_timesteps:
        return _say_that_it_ended(manifest["timesteps"], plan)
    code = take_over(plan)
    if code is not None:
        return code
    agent = continued(plan, spec, path, manifest, before, is_fork=out is not None)
    if "seed" in changes:
        agent.set_random_seed(plan.seed)
    return train_to_the_end(agent)


def _say_that_it_ended(timesteps: int, plan: Plan) -> int:
    """Print that nothing is left to train; returns the exit code."""
    if plan.verbose:
        done = f"the run ended at {timesteps:,} timesteps"
        click.echo(f"{done}. To train longer, give --timesteps a larger number.")
    return 0


def continued(
    plan: Plan,
    spec: RunSpec,
    path: Path,
    manifest: Mapping[str, Any],
    before: Sequence[Path],
    *,
    is_fork: bool,
) -> Agent:
    """The agent of the plan with the state of the checkpoint; its folder is ready for training.

    Args:
        plan: of the continued run, made from `spec`.
        path: the checkpoint.
        manifest: of the checkpoint.
        before: the checkpoints before it, to name one if it is damaged.
        is_fork: whether the plan's folder is a new one.
    """
    from rlk.agent import Agent
    from rlk.running import saved_files
    from rlk.running.restoring import bad_if_it_fails, part_of
    from rlk_resume.changes import naming_changes, write_changed_plan
    from rlk_resume.fork import forked

    with forked(path, manifest, plan) if is_fork else contextlib.nullcontext():
        with saying_what_to_do(path, before):
            state = saved_files.read(path, plan.kernel)
        with naming_changes(manifest["plan"], plan):
            with bad_if_it_fails(f"{path}: the run that it describes cannot be built"):
                agent = Agent(plan, spec, part_of(state, "parameters"))
            agent = restored(agent, state, path, manifest["plan"])
    if not is_fork:
        write_changed_plan(plan, agent.num_timesteps, manifest["plan"])
    return agent


def own_folder(path: Path) -> Path:
    """The run folder of a checkpoint; PlanError if the checkpoint is not in a run folder."""
    from rlk_resume.fork import folder_of

    folder = folder_of(path)
    if folder is None:
        raise PlanError(
            f"{path} is not in the folder `checkpoints` of a run folder. Name a folder to continue "
            f"in: {_resuming(path, '--out', 'DIR')}"
        )
    return folder


def _who_trains(path: Path) -> str | None:
    """Who trains in the run folder of a checkpoint, which thus cannot be resumed; or None."""
    from rlk.running.folder_owner import in_use
    from rlk_resume.fork import folder_of

    folder = folder_of(path)
    return None if folder is None else in_use(folder)


def checkpoints_of(place: Path, kernel: Kernel) -> list[Path]:
    """The checkpoints that RUN refers to: one file, or those in a folder, of which the last counts.

    Raises:
        BadFile: if the folder has no checkpoint, or cannot be read.
        PlanError: if it has none yet, and a process trains in it.
    """
    from rlk.running import saved_files
    from rlk.running.folder_owner import in_use
    from rlk.running.unreadable import why_unreadable

    serializers = saved_files.serializers(kernel)
    with looking_at(place, f"cannot read {place}"):
        if place.is_dir():
            found = checkpoints(place, *(one.suffix for one in serializers))
            if found:
                return found
            if (place / PLAN).exists() and (why := why_unreadable(place, kernel)):
                raise BadFile(f"{place} holds no checkpoint that can be read. {why}")
            if owner := in_use(place):  # it may still write some
                raise PlanError(f"{place} holds no checkpoint yet. {owner}")
            if any(one.find(place, best=True) for one in serializers):
                raise BadFile(f"{place} holds no checkpoint. {NO_MODEL}")
            if (place / PLAN).exists():
                raise BadFile(f"{place} holds no checkpoint. {NONE_SAVED}")
    return [saved_files.find(place, kernel)[0]]  # if nothing is there, an error that says so


def what_instead(model: Path, kernel: Kernel) -> str:
    """What to type instead of the file of a model, which cannot be resumed."""
    from rlk.running import saved_files

    suffixes = [one.suffix for one in saved_files.serializers(kernel)]
    if checkpoints(model.parent, *suffixes):
        return f"Type: {_resuming(model.parent)}"
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
        typed = _resuming(before[-1])
        raise BadFile(f"{error} To continue from the one before it: {typed}") from error


def _resuming(place: Path, *options: str) -> str:
    """What to type to resume a run folder or a checkpoint."""
    return command_line(["rlk", "resume", path_word(place), *options])


def restored(agent: Agent, state: State, path: Path, before: Mapping[str, Any]) -> Agent:
    """The saved agent; prints where it continues, and what will differ from before.

    Args:
        agent: just built.
        state: what the checkpoint holds.
        path: the checkpoint.
        before: the plan in it, as in files.
    """
    from rlk.planning.saved_plan import as_json
    from rlk_resume.changes import changed

    agent.restore(state)
    plan, moved = agent.plan, end_schedules(agent)
    if plan.verbose:
        at = f"{agent.num_timesteps:,} timesteps"
        click.echo(f"{plan.algorithm.name} on {plan.env.name} continues from {path} at {at}")
        for change in changed(before, as_json(plan)):
            click.echo(f"  from here on: {change}")
        for sentence in agent.differs:
            click.echo(f"  not as before: {sentence}")
        if moved is not None:
            click.echo(f"  {moved}")
    return agent
