"""`rlk evaluate` and `rlk enjoy`. Modules that are slow to import are imported when called."""

from __future__ import annotations

import json
import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import click
from click import Option

from rlk.errors import PlanError, RlkError
from rlk_cli import completion
from rlk_cli.model_file import load_to_act, model_file
from rlk_cli.options import DEVICE, ENV, PLUGINS, SETTINGS, given
from rlk_evaluation.number_text import significant

if TYPE_CHECKING:
    from rlk.agent import Agent
    from rlk_evaluation.evaluate import Evaluation

#: The options of both commands.
_SHARED = (
    Option(
        ["--seed"],
        type=click.IntRange(0),
        help="Random seed of the episodes; by default derived from the run's seed.",
    ),
    Option(
        ["--stochastic/--deterministic"],
        default=False,
        help="Sample actions, or take the policy's mode (the default).",
    ),
    Option(
        ["--best/--last"],
        default=None,
        help="Take best_model.zip or model.zip from a run folder.",
    ),
    Option(["--env"], **ENV, help="Play in another environment than that of training."),
    Option(
        ["--set", "pairs"],
        **SETTINGS,
        help="Change a setting: env.gravity=9.8. Repeatable.",
    ),
    Option(
        ["--plugin", "plugins"],
        **PLUGINS,
        help="Add a plugin; one that came from a ./file.py must be given again. Repeatable.",
    ),
    DEVICE,
)


@click.command(params=list(_SHARED))
@click.argument("runs", metavar="RUN…", nargs=-1, required=True, shell_complete=completion.files)
@click.option(
    "--episodes",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="How many episodes to play.",
)
@click.option(
    "--n-envs",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many environments to step together.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a RUN, for programs.")
def evaluate(runs: tuple[str, ...], as_json: bool, **options: Any) -> int:
    """Play whole episodes with a trained model and print their mean return.

    RUN is a run folder, a model.zip or a checkpoint. From a run folder the last model is taken, or
    the best one with --best. Each of several is printed on one line; one that cannot be played is
    left out, with a note, and the exit code is that of its error.
    """
    shown_as = _as_json if as_json else _as_text if len(runs) == 1 else _as_line
    code = 0
    for run in runs:
        try:
            # What an environment prints is no part of the JSON object.
            with redirect_stdout(sys.stderr) if as_json else nullcontext():
                played = _play(run, **options)
        except RlkError as error:
            if len(runs) == 1:
                raise
            click.echo(f"note: not played: {error}", err=True)
            code = error.exit_code
        else:
            if played is not None:
                click.echo(shown_as(played))
    return code


@attrs.frozen
class _Played:
    """An evaluation, of what, and how."""

    result: Evaluation
    path: Path
    env: str
    deterministic: bool
    seed: int


def _play(
    run: str,
    *,
    episodes: int,
    n_envs: int,
    seed: int | None,
    stochastic: bool,
    best: bool | None,
    **how: Any,
) -> _Played | None:
    """The evaluation of one model; None on other ranks than 0, which plays, as in training."""
    from rlk_evaluation.evaluate import evaluate_agent

    path, agent = _load(run, best=best or False, **how)
    with agent:
        if agent.run.communicator.rank > 0:
            return None
        result = evaluate_agent(
            agent, episodes, n_envs=n_envs, seed=seed, deterministic=not stochastic
        )
        seed = agent.run.streams.seed if seed is None else seed
        return _Played(result, path, agent.plan.env.name, not stochastic, seed)


@click.command(params=list(_SHARED))
@click.argument("run", metavar="RUN", shell_complete=completion.files)
@click.option(
    "--episodes",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    help="How many episodes to play.",
)
@click.option("--no-render", is_flag=True, help="Only print the returns.")
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write a .gif or .mp4 file instead of opening a window.",
)
def enjoy(
    run: str, episodes: int, seed: int | None, no_render: bool, record: Path | None, **options: Any
) -> None:
    """Watch a trained model play in a window, or record it as a film.

    RUN is a run folder, a model.zip or a checkpoint. From a run folder the best model is taken if
    the run was evaluated during training, else the last one; --last always takes the last one.
    """
    from rlk_evaluate import film, window
    from rlk_evaluation.evaluate import evaluate_agent
    from rlk_films import check_film

    if no_render and record is not None:
        raise click.UsageError("--no-render and --record contradict each other.")
    if record is not None:
        check_film(record)
    elif not no_render:
        model_file(run, best=None)  # a missing run is reported first
        window.check_display()
    stochastic, best = options.pop("stochastic"), options.pop("best")
    path, agent = _load(run, best=best, **options)
    with agent:
        if agent.run.communicator.rank > 0:  # under a launcher rank 0 plays, as in training
            return
        click.echo(f"{path} plays {agent.plan.env.name}")
        number = iter(range(1, episodes + 1))

        def show(return_: float, length: int) -> None:
            shown = significant(return_)
            click.echo(f"episode {next(number):>3}   return {shown:>10}   length {length:>6}")

        play: dict[str, Any] = {
            "episodes": episodes,
            "seed": seed,
            "deterministic": not stochastic,
            "on_episode": show,
        }
        if no_render:
            result = evaluate_agent(agent, **play)
        elif record is not None:
            result = film.record(agent, record, **play)
            click.echo(f"wrote {record}")
        else:
            result = window.show(agent, **play)
        mean, std = significant(result.mean_return), significant(result.std_return)
        click.echo(f"mean return {mean} +/- {std}")


def _load(
    run: str,
    *,
    best: bool | None,
    env: str | None,
    pairs: tuple[str, ...],
    plugins: tuple[str, ...],
    device: str | None,
) -> tuple[Path, Agent]:
    """The agent, and its file (see `model_file`)."""
    path = model_file(run, best)
    settings = given(pairs, device=device)
    if "out" in settings:
        raise PlanError(
            "--set out: nothing is written here, so there is no run folder. Leave it out."
        )
    return path, load_to_act(path, plays=True, env=env, plugins=plugins, **settings)


def _as_json(played: _Played) -> str:
    result = played.result
    figures: dict[str, Any] = {
        "mean_return": result.mean_return,
        "std_return": result.std_return,
        "episodes": len(result.returns),
        "mean_length": result.mean_length,
        "model": str(played.path),
        "deterministic": played.deterministic,
        "seed": played.seed,
    }
    if result.success_rate is not None:
        figures["success_rate"] = result.success_rate
    return json.dumps(figures)


def _as_line(played: _Played) -> str:
    result = played.result
    mean, std = significant(result.mean_return), significant(result.std_return)
    success = "" if result.success_rate is None else f"{result.success_rate:>6.1%} success  "
    return f"{mean:>10} +/- {std:<10}{success}{played.env}  {played.path}"


def _as_text(played: _Played) -> str:
    result = played.result
    how = "deterministic" if played.deterministic else "stochastic"
    least, most = significant(min(result.returns)), significant(max(result.returns))
    rows = [
        ("model", f"{played.path}  ({result.timesteps:,} timesteps)"),
        ("environment", played.env),
        ("episodes", f"{len(result.returns)}  ({how}, seed {played.seed})"),
        ("mean_return", f"{significant(result.mean_return)}  (from {least} to {most})"),
        ("std_return", significant(result.std_return)),
        ("mean_length", f"{result.mean_length:.1f} steps"),
    ]
    if result.success_rate is not None:
        rows.append(("success_rate", f"{result.success_rate:.1%}"))
    return "\n".join(f"{name:<14}{value}" for name, value in rows)
