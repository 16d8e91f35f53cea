"""`rlk tune`. Modules that are slow to import are imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from rlk.errors import PlanError
from rlk.planning.spec import make_spec
from rlk.registry.kernel import default_kernel
from rlk_cli.options import given, over_file
from rlk_cli.run import run
from rlk_tune.options import FIELDS, OPTIONS

if TYPE_CHECKING:
    from rlk.planning.spec import RunSpec
    from rlk_tune.search import Search

EXAMPLES = """\b
rlk tune --algo ppo2 --env CartPole-v1 --timesteps 20000 --trials 50 --jobs 2
rlk tune --algo dqn --search learning_rate=log:1e-5:1e-2 --space none
rlk tune --out tunings/mine             continues the search in that folder"""
#: Options of `rlk run` that a single trial does not have.
NOT_OF_TRIALS = ("out", "verbosity", "log_interval")
OF_SEARCH = ("searched", "space", *(str(field.name) for field in FIELDS))
OF_TRIALS = tuple(option for option in run.params if option.name not in NOT_OF_TRIALS)


@click.command(params=[*OF_TRIALS, *OPTIONS, *FIELDS], epilog=EXAMPLES)
@click.pass_context
def tune(
    context: click.Context,
    /,
    spec_file: str | None,
    algo: str | None,
    out: str | None,
    jobs: int,
    quiet: bool,
    explained: bool,
    **options: Any,
) -> int:
    """Search for hyperparameters: train many agents and keep the best settings.

    Every trial trains as rlk run would, with new values for the searched settings. SPEC.toml is a
    file that may hold any of the options of rlk run. To continue a search that was stopped, type
    rlk tune --out DIR.
    """
    from rlk.planning.resolve import resolve
    from rlk_cli.folder import choose

    if "://" in (options["storage"] or ""):
        raise PlanError(
            f"--storage {options['storage']} is where Optuna keeps a study: here the study is a "
            "file of --out DIR, and rlk tune --out DIR continues it. Leave --storage out."
        )
    of_search = {name: options.pop(name) for name in OF_SEARCH}
    spec = make_spec(algo or "", given(**options, out=out))
    spec = over_file(spec, spec_file)
    quiet = quiet or spec.given.get("verbose") == 0
    wanted: str = spec.given.get("out") or ""
    search, notes = _search(context, wanted, spec, **of_search)
    plan = resolve(default_kernel(), search.common())
    from rlk_tune import report  # after whatever is refused: it imports Optuna
    from rlk_tune.session import run_search  # and this one torch

    if explained:
        click.echo(f"{plan}\n{report.searched(search, notes)}")
        return 0
    is_there = wanted and Path(wanted).exists()
    folder = Path(wanted) if is_there else choose(wanted, plan, search.algo, among="tunings")
    if not quiet:
        click.echo(f"{report.beginning(plan, search, folder)}\n{report.searched(search, notes)}")
    return run_search(folder, search, jobs, quiet=quiet)


def _search(
    context: click.Context,
    wanted: str,
    spec: RunSpec,
    searched: tuple[str, ...],
    space: str,
    **fields: Any,
) -> tuple[Search, list[str]]:
    """The search from the command line, or the one in the folder, and notes on its ranges."""
    from rlk_tune.begin import new_search
    from rlk_tune.continue_search import search_in
    from rlk_tune.ranges import parse_searches
    from rlk_tune.search import FILE

    ranges = parse_searches(searched)
    if wanted and Path(wanted, FILE).exists():
        every = {**fields, "space": space}
        typed = {name: value for name, value in every.items() if _is_typed(context, name)}
        return search_in(Path(wanted), spec, ranges, typed), []
    if wanted and Path(wanted).is_dir() and any(Path(wanted).iterdir()):
        raise PlanError(
            f"--out {wanted} exists and is not empty, and there is no search in it to continue. "
            "Name another folder."
        )
    if wanted and not spec.algo:
        is_there = "is empty" if Path(wanted).exists() else "does not exist"
        raise PlanError(
            f"--out {wanted} {is_there}, so there is no search in it to continue. A new search "
            "needs --algo NAME."
        )
    return new_search(spec, ranges, space, fields)


def _is_typed(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE
