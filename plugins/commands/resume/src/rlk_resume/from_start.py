"""A run that was killed before it saved a checkpoint begins again, from its start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlk.agent import Agent
from rlk.errors import RlkError
from rlk.planning.saved_plan import as_json
from rlk.running import saved_files
from rlk.running.restoring import bad_if_it_fails
from rlk_cli.folder import write_plan
from rlk_resume.changes import changed
from rlk_resume.fork import BEST

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.planning.spec import RunSpec
    from rlk.registry.kernel import Kernel
    from rlk.running.folder_owner import OwnedFolder
    from rlk_resume.found import Found

#: Files of rows, episodes, events and evaluations, which a run writes before its first checkpoint.
ROWS = (
    *("progress.csv", "*monitor.csv", "events.out.tfevents.*"),
    *("evaluations.npz", "evaluations-[0-9]*.npz"),
)
#: What the names of the best models of the killed part begin with from then on.
EARLIER = "earlier_"


def begun(plan: Plan, spec: RunSpec, found: Found, owned: OwnedFolder | None) -> Agent:
    """The agent of a plan that was read from `plan.json`; prints that its run begins.

    Args:
        plan: made from `spec`, with what was changed since the plan was saved.
        spec: the request.
        found: the saved plan.
        owned: the folder; None on a rank that does not write to it.

    Raises:
        RlkError: if what the killed part wrote cannot be removed.
    """
    changes = changed(found.plan, as_json(plan))
    if plan.out is not None:
        _drop_rows(Path(plan.out), plan.kernel)
        is_other = changes or plan.total_timesteps != found.plan["run"]["total_timesteps"]
        write_plan(Path(plan.out), as_json(plan) if is_other else dict(found.plan))
    with bad_if_it_fails(f"{found.path}: the run that it describes cannot be built"):
        agent = Agent(plan, spec, None, owned)
    if plan.verbose:
        title = f"{plan.algorithm.name} on {plan.env.name}"
        click.echo(f"{title} begins from its start, because {found.folder} holds no checkpoint")
        for change in changes:
            click.echo(f"  changed: {change}")
    return agent


def _drop_rows(folder: Path, kernel: Kernel) -> None:
    """Remove the rows of the killed part, as of every resumed run; keep its best models aside.

    A model may have taken days; the first evaluation of the run that begins would replace it.
    """
    try:
        for pattern in ROWS:
            for path in folder.glob(pattern):
                path.unlink()
        for serializer in saved_files.serializers(kernel):
            for name in BEST:
                for best in folder.glob(f"{name}{serializer.suffix}"):
                    best.replace(best.with_name(f"{EARLIER}{best.name}"))
    except OSError as error:
        raise RlkError(f"{folder} cannot be used again: {error}.") from error
