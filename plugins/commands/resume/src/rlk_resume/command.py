"""`rlk resume`: continues a run. Modules that are slow to import are imported when called.

A process reads a run folder to say what it would do; it trains there only from what it finds once
it owns the folder. Between the two, the process before it may have saved another checkpoint.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from rlk.errors import BadFile, PlanError
from rlk.registry.kernel import default_kernel
from rlk_cli.completion import files, folders
from rlk_cli.options import SHARED, given, typed_verbosity
from rlk_cli.train import explain, take_over, train_to_the_end
from rlk_resume.found import Found, find, saying_what_to_do

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.protocols import State
    from rlk.running.folder_owner import OwnedFolder


@attrs.frozen
class Asked:
    """What was typed: RUN, the folder of a fork, and what is to be another than before."""

    place: Path
    out: str | None
    env: str | None
    plugins: tuple[str, ...]
    changes: Mapping[str, Any]


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
    changes = {"verbose": 1} | given(**options, verbose=typed_verbosity(quiet, verbosity))
    asked = Asked(Path(run), out, env, plugins, changes)
    found = find(asked.place, default_kernel())
    plan, spec = _planned(found, asked)
    if explained:
        return explain(plan, spec)
    if _has_ended(found, plan):
        return _say_that_it_ended(found.timesteps, plan)
    code = take_over(plan)
    if code is not None:
        return code
    with _owned(plan, asked) as folder:
        if folder is not None and (now := find(asked.place, plan.kernel, owned=True)) != found:
            found, (plan, spec) = now, _planned(now, asked)
            if _has_ended(found, plan):
                return _say_that_it_ended(found.timesteps, plan)
        agent = continued(plan, spec, found, folder)
        if "seed" in changes:
            agent.set_random_seed(plan.seed)
        return train_to_the_end(agent)


def _planned(found: Found, asked: Asked) -> tuple[Plan, RunSpec]:
    """The plan and the spec of the continued run.

    Raises:
        PlanError: if they do not fit what was found, or a fork is refused.
    """
    from rlk.planning.resolve import resolve
    from rlk.planning.spec import make_spec
    from rlk.restoring.saved_plan import spec_of
    from rlk.restoring.saved_spaces import check_spaces_of_saved
    from rlk_resume.fork import check_fork

    kernel = default_kernel()
    spec = spec_of(
        found.plan,
        kernel,
        env=asked.env,
        plugins=asked.plugins,
        changes=asked.changes,
        resumes=True,
    )
    spec = make_spec("", {"out": asked.out or str(found.folder)}).over(spec)
    plan = resolve(kernel, spec)
    check_spaces_of_saved(found.plan["env"], plan, str(found.path))
    if asked.out is not None:
        check_fork(found, plan)
    return plan, spec


@contextlib.contextmanager
def _owned(plan: Plan, asked: Asked) -> Iterator[OwnedFolder | None]:
    """The folder of the run while it is trained; None for a fork or a rank that writes nothing.

    Raises:
        PlanError: if another process owns it.
    """
    from rlk.running.folder_owner import OwnedFolder

    if plan.out is None or asked.out is not None:
        yield None
        return
    folder = OwnedFolder(Path(plan.out))
    try:
        yield folder
    finally:
        folder.release()


def _has_ended(found: Found, plan: Plan) -> bool:
    """Whether nothing is left to do: the last timestep is saved, and `model.zip` has its policy.

    A run that was killed between these two only has to write its model.
    """
    from rlk.saving import saved_files

    if found.timesteps < plan.total_timesteps:
        return False
    try:
        model = saved_files.read_manifest(found.folder / "model", plan.kernel)
    except BadFile:
        return False
    return bool(model["timesteps"] >= found.timesteps)


def _say_that_it_ended(timesteps: int, plan: Plan) -> int:
    """Print that nothing is left to train; returns the exit code."""
    if plan.verbose:
        done = f"the run ended at {timesteps:,} timesteps"
        click.echo(f"{done}. To train longer, give --timesteps a larger number.")
    return 0


def continued(plan: Plan, spec: RunSpec, found: Found, owned: OwnedFolder | None) -> Agent:
    """The agent of the plan in the state that was found; its folder is ready for training.

    Args:
        plan: of the continued run, made from `spec`.
        spec: the request.
        found: the checkpoint.
        owned: the run's own folder; None for a fork, or a rank that does not write to it.

    Raises:
        PlanError: if another rank has found another checkpoint.
    """
    from rlk.agent import Agent
    from rlk.saving import saved_files
    from rlk.saving.restored_parts import bad_if_it_fails, part_of
    from rlk_resume.changes import naming_changes, write_changed_plan
    from rlk_resume.fork import forked

    is_fork = plan.out is not None and owned is None
    with forked(found, plan) if is_fork else contextlib.nullcontext(owned) as folder:
        with saying_what_to_do(found.path, found.before):
            state = saved_files.read(found.path, plan.kernel)
        with naming_changes(found.plan, plan):
            with bad_if_it_fails(f"{found.path}: the run that it describes cannot be built"):
                agent = Agent(plan, spec, part_of(state, "parameters"), folder)
            _refuse_other_checkpoints(agent, found)
            agent = restored(agent, state, found)
    if not is_fork:
        write_changed_plan(plan, agent.num_timesteps, found.plan)
    return agent


def _refuse_other_checkpoints(agent: Agent, found: Found) -> None:
    """Close the agent, and raise PlanError, if ranks have found checkpoints of other timesteps."""
    at = agent.run.communicator.gather(found.timesteps)
    if len(set(at)) > 1:
        agent.close()
        raise PlanError(
            f"the ranks found checkpoints of different timesteps ({', '.join(map(str, at))}), "
            "because the run before was still saving one. Type it again."
        )


def restored(agent: Agent, state: State, found: Found) -> Agent:
    """The saved agent; prints where it continues, and what will differ from before.

    Args:
        agent: just built.
        state: what the checkpoint holds.
        found: the checkpoint.
    """
    from rlk.making import restore
    from rlk.restoring.saved_plan import as_json
    from rlk_resume.changes import changed

    restore(agent, state)
    plan, moved = agent.plan, _end_schedules(agent)
    if plan.verbose:
        at = f"{agent.num_timesteps:,} timesteps"
        click.echo(f"{plan.algorithm.name} on {plan.env.name} continues from {found.path} at {at}")
        for change in changed(found.plan, as_json(plan)):
            click.echo(f"  from here on: {change}")
        for sentence in agent.differs:
            click.echo(f"  not as before: {sentence}")
        if moved is not None:
            click.echo(f"  {moved}")
    return agent


def _end_schedules(agent: Agent) -> str | None:
    """Let every schedule end at the last timestep of a restored agent's plan.

    Returns:
        A line about the numbers that change because of this, from what to what; None if none do.
    """
    run, end = agent.run, agent.plan.total_timesteps
    planned, before = run.clock.total_timesteps, run.scheduled()
    run.clock.total_timesteps = end
    run.refresh_schedules()
    now = run.scheduled()
    moved = [
        f"{tag.partition('/')[2]} {before[tag]:.3g} to {now[tag]:.3g}"
        for tag in now
        if now[tag] != before[tag]
    ]
    if not moved:
        return None
    return f"schedules end at {end:,} timesteps now, not at {planned:,}: {', '.join(moved)}"
