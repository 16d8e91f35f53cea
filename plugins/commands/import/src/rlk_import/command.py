"""`rlk import`. Modules that are slow to import are imported when it is called."""

from __future__ import annotations

from pathlib import Path

import click

from rlk.command_line import command_line, path_word
from rlk.errors import BadFile, PlanError
from rlk.files import looking_at, write_text
from rlk_cli.options import ENV, PLUGINS, SETTINGS, given

#: How the name of a file of hyperparameters ends, as rl-baselines3-zoo has them.
HYPERPARAMETERS = (".yml", ".yaml")


@click.command("import")
@click.argument("model", metavar="MODEL", type=click.Path(path_type=Path))
@click.option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The model file or SPEC.toml to write; it must not exist yet.",
)
@click.option(
    "--env",
    **ENV,
    help="Its environment, which the file does not name: an id, or ./file.py:Class.",
)
@click.option(
    "--algo",
    metavar="NAME",
    help="Its algorithm (ppo2, acer, …), for the few files that do not show it; of a FILE.yml, the "
    "one that it is for, by default its name.",
)
@click.option(
    "--normalize",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The file of the VecNormalize with which it was trained.",
)
@click.option(
    "--plugin",
    "plugins",
    **PLUGINS,
    help="Add a plugin: a wrapper of its environment (atari, frame-stack). Repeatable.",
)
@click.option(
    "--set",
    "pairs",
    **SETTINGS,
    help="Change a setting: clip_range=0.1, env.gravity=9.8. Repeatable.",
)
def command(
    model: Path,
    out: Path,
    env: str | None,
    algo: str | None,
    normalize: Path | None,
    plugins: tuple[str, ...],
    pairs: tuple[str, ...],
) -> None:
    """Convert a model that Stable Baselines 2.10, Stable-Baselines3 or sb3-contrib has saved.

    MODEL is the file that model.save(…) wrote there. No code in it is run.

    Of a FILE.yml of rl-baselines3-zoo (environment -> hyperparameters), it makes a SPEC.toml for
    rlk run, with the settings and the wrappers of the environment --env.
    """
    if model.suffix in HYPERPARAMETERS:
        _convert_hyperparameters(model, _new(out, ".toml"), env, algo, normalize, plugins, pairs)
        return
    out = _new(out, ".zip")
    _check_is_there(model)
    from rlk_import.conversion import converted
    from rlk_import.origin import origin_of

    origin = origin_of(model, algo)
    imported = converted(origin, env, normalize=normalize, plugins=plugins, changes=given(pairs))
    with imported.agent as agent:
        click.echo(f"{model}: {origin.title}, {agent.num_timesteps:,} timesteps")
        for sentence in imported.lost:
            click.echo(f"  {sentence}")
        path = agent.save(out)
        click.echo(f"wrote {path}: {agent.plan.title}")
        click.echo(f"Type: {command_line(['rlk', 'evaluate', path_word(path)])}")


def _convert_hyperparameters(
    file: Path,
    out: Path,
    env: str | None,
    algo: str | None,
    normalize: Path | None,
    plugins: tuple[str, ...],
    pairs: tuple[str, ...],
) -> None:
    """Write the SPEC.toml of an environment; the arguments are the command's."""
    if env is None:
        raise PlanError(f"{file} has settings for several environments. Name one: --env ID.")
    if normalize is not None:
        raise PlanError(f"--normalize is for a model; {file} says itself what is normalised.")
    from rlk_import.hyperparameters import described

    found = described(file, algo, env, plugins=plugins, changes=given(pairs))
    click.echo(f"{file}: the entry {found.entry}")
    for sentence in found.lost:
        click.echo(f"  {sentence}")
    write_text(out, found.spec_toml())
    click.echo(f"wrote {out}: {found.plan.title}")
    click.echo(f"Type: {command_line(['rlk', 'run', path_word(out)])}")


def _check_is_there(model: Path) -> None:
    """BadFile for a model that is no file; here, because `origin_of` waits for torch."""
    with looking_at(model, f"cannot read {model}"):
        if not model.is_file():
            raise BadFile(f"{model} is not a file. MODEL is a file that model.save(…) wrote.")


def _new(out: Path, suffix: str) -> Path:
    """The file to write, with this suffix; PlanError if it already exists."""
    path = out if out.name.endswith(suffix) else out.with_name(out.name + suffix)
    with looking_at(path, f"cannot write {path}", PlanError):
        if path.exists():
            raise PlanError(f"--out {path} exists. Name a new file.")
    return path
