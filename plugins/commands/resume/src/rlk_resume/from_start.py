"""A run that was killed before it saved a checkpoint begins again, from its start."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.restoring.saved_plan import as_json
from rlk.saving import saved_files
from rlk.saving.restored_parts import bad_if_it_fails
from rlk_cli.folder import write_begun_plan
from rlk_resume.changes import changed
from rlk_resume.fork import BEST
from rlk_resume.ranks import refuse_other_checkpoints

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.registry.kernel import Kernel
    from rlk.running.folder_owner import OwnedFolder
    from rlk_resume.found import Found

#: Files of rows, episodes, events and evaluations, which a run writes before its first checkpoint,
#: and plans of later parts, if its checkpoints were deleted.
WRITTEN = (
    *("progress.csv", "*monitor.csv", "events.out.tfevents.*"),
    *("evaluations.npz", "evaluations-[0-9]*.npz", "plan-from-*.json"),
)


def begun(plan: Plan, spec: RunSpec, found: Found, owned: OwnedFolder | None) -> Agent:
    """The agent of a plan that was read from `plan.json`; prints that its run begins.

    If it cannot begin, the folder is left as it was.

    Args:
        plan: made from `spec`, with what was changed since the plan was saved.
        spec: the request.
        found: the saved plan.
        owned: the folder; None on a rank that does not write to it.

    Raises:
        PlanError: if another rank has found a checkpoint.
        RlkError: if what the killed part wrote cannot be moved, or the plan cannot be written.
    """
    changes = changed(found.plan, as_json(plan))
    with _set_aside(plan) as earlier:
        with bad_if_it_fails(f"{found.path}: the run that it describes cannot be built"):
            agent = Agent(plan, spec, None, owned)
        try:
            refuse_other_checkpoints(agent, found)
            if plan.out is not None:
                is_other = changes or plan.total_timesteps != found.plan["run"]["total_timesteps"]
                write_begun_plan(Path(plan.out), as_json(plan) if is_other else found.plan)
        except BaseException:
            agent.close()
            raise
    if plan.verbose:
        title = f"{plan.algorithm.name} on {plan.env.name}"
        click.echo(f"{title} begins from its start, because {found.folder} holds no checkpoint")
        if earlier is not None:
            click.echo(f"  what was written before is in {earlier}")
        for change in changes:
            click.echo(f"  changed: {change}")
    return agent


@contextlib.contextmanager
def _set_aside(plan: Plan) -> Iterator[Path | None]:
    """Move the rows and the best models of the killed part into a new folder in its own.

    It is called `earlier-N`. They are moved back if the context fails. A run that is built adds
    its rows to those that it finds, so they are moved before it is.

    Yields:
        The new folder; None if there is nothing to move, or another rank has the folder.
    """
    written = [] if plan.out is None else _written(Path(plan.out), plan.kernel)
    if plan.out is None or not written:
        yield None
        return
    folder = Path(plan.out)
    earlier = next(
        path for number in count(1) if not (path := folder / f"earlier-{number}").exists()
    )
    try:
        _move(written, earlier)
        yield earlier
    except BaseException:
        if earlier.exists():
            _move(list(earlier.iterdir()), folder)
            earlier.rmdir()
        raise


def _move(files: Iterable[Path], folder: Path) -> None:
    """Move files into a folder, which is created if missing; RlkError if that fails."""
    try:
        folder.mkdir(exist_ok=True)
        for path in files:
            path.replace(folder / path.name)
    except OSError as error:
        raise RlkError(f"what was written before cannot be moved to {folder}: {error}.") from error


def _written(folder: Path, kernel: Kernel) -> list[Path]:
    """What the killed part has written, except for its plan and files of the user's settings."""
    suffixes = [one.suffix for one in saved_files.serializers(kernel)]
    best = [f"{name}{suffix}" for name in BEST for suffix in suffixes]
    found = (path for pattern in (*WRITTEN, *best) for path in sorted(folder.glob(pattern)))
    return list(dict.fromkeys(path for path in found if path.is_file()))
