"""`rlk env check`. Modules that are slow to import are imported when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from rlk.errors import PlanError, RlkError, described
from rlk_cli.completion import files
from rlk_cli.options import SETTINGS, given
from rlk_env_check.finding import Finding, error

if TYPE_CHECKING:
    from rlk.planning.environment import EnvChoice

_COLOURS = {"error": "red", "warning": "yellow", "note": "cyan"}


@click.command()
@click.argument("env", metavar="ENV", shell_complete=files)
@click.option(
    "--set",
    "pairs",
    **SETTINGS,
    help="A keyword of the environment: env.gravity=9.8. Repeatable.",
)
@click.option(
    "--steps",
    type=click.IntRange(1),
    default=300,
    show_default=True,
    help="How many random steps to play.",
)
@click.option("--render", is_flag=True, help="Check its rendering, too.")
def check(env: str, pairs: tuple[str, ...], steps: int, render: bool) -> None:
    """Check whether agents can be trained in an environment.

    ENV is an id, module:Id-v0, module:Class or ./file.py:Class. It is played with random actions.
    Errors must be corrected; warnings are worth a look; notes say what to expect.
    """
    from rlk_env_check.checker import examine

    choice = _chosen(env, pairs)
    made = _made(choice, render)
    try:
        found = examine(made, steps=steps, render=render, make=choice.make)
        for name in ("observation_space", "action_space"):
            click.echo(f"{name:<18} {_shown(getattr(made, name, None))}")
    finally:
        not_closed = _not_closed(made)
    found = [*found, *not_closed]
    for finding in found:
        level = click.style(f"{finding.level:<8}", fg=_COLOURS[finding.level])
        click.echo(f"{level} {finding.text}")
    counts = {level: sum(one.level == level for one in found) for level in ("error", "warning")}
    summary = ", ".join(f"{n} {level}{'' if n == 1 else 's'}" for level, n in counts.items())
    click.echo(summary)
    if counts["error"]:
        raise RlkError(f"{env} has errors. Correct them before you train agents in it.")


def _not_closed(made: Any) -> list[Finding]:
    """Close the environment; returns what is wrong with that."""
    try:
        if hasattr(made, "close"):
            made.close()
    except Exception as problem:
        return [error(f"close() raised {type(problem).__name__}: {problem}")]
    return []


def _shown(space: Any) -> str:
    import gymnasium as gym

    from rlk.spaces import describe

    return describe(space) if isinstance(space, gym.Space) else f"{space!r:.60}"


def _chosen(env: str, pairs: tuple[str, ...]) -> EnvChoice:
    """The environment with that name and these keywords."""
    from rlk.planning.environment import choose_environment
    from rlk.registry.kernel import default_kernel

    settings = given(pairs)
    others = [key for key in settings if not key.startswith("env.")]
    if others:
        raise PlanError(f"--set takes keywords of the environment here: env.{others[0]}=…")
    keywords = {key.removeprefix("env."): value for key, value in settings.items()}
    return choose_environment(env, default_kernel().registries, keywords)


def _made(choice: EnvChoice, render: bool) -> Any:
    """The environment; with a render mode that returns images, if rendering is checked."""
    try:
        if not render:
            return choice.make()
        try:
            return choice.make(render_mode="rgb_array")
        except (PlanError, TypeError):  # it does not take that keyword
            return choice.make()
    except PlanError:
        raise
    except Exception as problem:
        cause = described(problem)
        raise PlanError(f"environment {choice.name!r} cannot be made: {cause}.") from problem
