"""`rlk run`: plan a run, make its folder, train."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click

from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk.terminal import is_terminal
from rlk_cli.completion import folders, names_of
from rlk_cli.options import SHARED, given, one_value, over_file, typed_verbosity
from rlk_cli.train import explain, take_over, train_to_the_end

if TYPE_CHECKING:
    from rlk.planning.plan import Plan

EXAMPLES = """\b
rlk run --algo dqn --plugin prioritized-replay
rlk run --algo ppo2 --n-envs 8 --env CartPole-v1 --set gamma=0.98 --seed 1"""


def algorithms_and_recipes() -> str:
    """The help of --algo."""
    recipes = ", ".join(default_kernel().registries.recipes.names())
    also = f", or a recipe, an algorithm with other components: {recipes}" if recipes else ""
    return f"The algorithm (rlk plugins list --kind algorithms){also}."


@click.command(params=list(SHARED), epilog=EXAMPLES)
@click.argument("spec_file", required=False, metavar="[SPEC.toml]", type=click.Path(dir_okay=False))
@click.option(
    "--algo",
    metavar="NAME",
    multiple=True,
    callback=one_value,
    shell_complete=names_of("algorithms", "recipes"),
    help=algorithms_and_recipes(),
)
@click.option("--n-envs", type=int, help="How many environments to step together.")
@click.option(
    "--preset",
    metavar="NAME",
    shell_complete=names_of("presets", also=("auto", "none")),
    help="Where tuned settings come from: auto (the default), none, or a source of presets.",
)
@click.option(
    "--out",
    metavar="DIR",
    shell_complete=folders,
    help="The run's folder; runs/<algo>-<env>-<seed>-<time> by default.",
)
def run(spec_file: str | None, quiet: bool, verbosity: int, explained: bool, **options: Any) -> int:
    """Train an agent.

    SPEC.toml is a file that may hold any of these options and settings; those that are typed
    override it.
    """
    from rlk.planning.resolve import resolve
    from rlk.running.seeding import draw_seed
    from rlk_cli import folder

    verbose = typed_verbosity(quiet, verbosity)
    spec = make_spec(options.pop("algo") or "", given(**options, verbose=verbose))
    spec = over_file(spec, spec_file)
    # The seed is drawn here, because the folder is named after it.
    drawn = make_spec("", {"seed": draw_seed()}, origin="drawn")
    wanted = spec.given.get("out")
    usual = make_spec("", {"preset": "auto", "out": "runs", "verbose": 1})
    spec = spec.over(usual).over(drawn)
    plan = resolve(default_kernel(), spec, terminal=is_terminal(sys.stderr))
    if wanted and plan.out is not None:  # only the rank that will write to it
        folder.check_wanted(wanted)
    if explained:
        return explain(plan, spec)
    code = take_over(plan)
    if code is not None:
        return code
    from rlk.agent import Agent
    from rlk.restoring.saved_plan import as_json

    is_new = wanted is None or not os.path.exists(wanted)
    if plan.out is not None:
        out = str(folder.choose(wanted, plan, spec.algo))
        plan, spec = attrs.evolve(plan, out=out), make_spec("", {"out": out}).over(spec)
    try:
        with Agent(plan, spec) as agent:
            if plan.out is not None:
                folder.write_plan(Path(plan.out), as_json(plan))
                warn_of_no_callback(plan)
            return train_to_the_end(agent)
    except BaseException:
        if plan.out is not None:
            folder.remove_unbegun(Path(plan.out), is_new)
        raise


def warn_of_no_callback(plan: Plan) -> None:
    """Print that no model will be saved, if no installed plugin would save one."""
    if not plan.callbacks and not plan.left_out:
        what = "this run has no callback, so no model is saved and little is printed"
        click.echo(f"{what}. pip install rlk-callbacks rlk-loggers", err=True)
