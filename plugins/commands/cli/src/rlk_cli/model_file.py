"""Which file a command reads that takes a model, `--best`, and the agent that acts with it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rlk.errors import BadFile, PlanError
from rlk.registry.kernel import default_kernel

if TYPE_CHECKING:
    from rlk.agent import Agent


def model_file(run: str, best: bool | None) -> Path:
    """The file of a model.

    Args:
        run: a run folder, a model or a checkpoint.
        best: whether to take the best model of a run folder; None: if there is one.

    Raises:
        PlanError: for the best model of what is no folder.
        BadFile: if there is no model, or no best one.
    """
    from rlk.saving.saved_files import find  # not at the top: it imports torch

    path, _ = find(Path(run), default_kernel(), best=best is not False)
    if best and Path(run).is_file():
        raise PlanError(f"--best selects a model of a run folder, but {run} is a file.")
    if best and not path.name.startswith("best_model."):
        raise BadFile(
            f"{run} holds no best_model.zip: that is what evaluations during training leave "
            "(rlk run … --plugin evaluation). Drop --best to take the last model."
        )
    return path


def load_to_act(path: Path, *, plays: bool = False, **how: Any) -> Agent:
    """The agent of a model, for a command that only acts; `how` are keywords of `rlk.load`.

    It works without parts that only training needs, and prints notes on stderr.

    Args:
        path: of the model.
        plays: whether the command steps the environment, so that its spaces do not suffice.

    Raises:
        PlanError: if it plays and the environment is not there.
    """
    from rlk.making import load  # as above
    from rlk.running.device import set_threads

    agent = load(path, to_act=True, **how)
    why_spaces_alone = agent.plan.env.why_spaces_alone
    if plays and why_spaces_alone:
        agent.close()
        raise PlanError(why_spaces_alone)
    set_threads(agent.run)  # the whole process is this command's
    for sentence in _notes(agent, how.get("plugins", ())):
        click.echo(f"note: {sentence}", err=True)
    return agent


def _notes(agent: Agent, plugins: tuple[str, ...]) -> Iterator[str]:
    """What the agent of a model does without, as sentences.

    Parts left out that the actions may depend on; the environment, if only its spaces are there;
    and plugins that are missing although the model holds their state, such as the level of a
    curriculum, unless one of `plugins` (`no:NAME`) left them out.
    """
    from rlk.planning.draft import leaves_out

    yield from agent.spec.notes
    if agent.plan.env.note:
        yield agent.plan.env.note
    left_out = {one.removeprefix("no:") for one in plugins if leaves_out(one)}
    for one in agent.missing:
        if one.is_for_acting and one.name not in left_out:
            yield f"{one.sentence}. Pass it again: --plugin …"
