"""`rlk plot`: draws learning curves. Modules that are slow to import are imported when called."""

from __future__ import annotations

from pathlib import Path

import click

from rlk_cli.completion import folders


@click.command()
@click.argument("runs", metavar="RUN…", nargs=-1, required=True, shell_complete=folders)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write: .png, .svg or .pdf.",
)
@click.option(
    "--x",
    type=click.Choice(["timesteps", "episodes", "time"]),
    default="timesteps",
    show_default=True,
    help="What the horizontal axis shows.",
)
@click.option(
    "--smooth",
    type=click.IntRange(1),
    metavar="N",
    help="Average over this many episodes.",
)
def plot(runs: tuple[str, ...], out: Path | None, x: str, smooth: int | None) -> None:
    """Draw the learning curve of one run, or the mean and spread of several runs.

    RUN is a run folder. Runs that differ only in their seed are drawn as one curve, their mean,
    with their spread. Without --out, the file is learning_curve.png in the folder of a single run,
    or learning_curves.png in the current folder for several runs.
    """
    from rlk.errors import RlkError
    from rlk_plot.curves import folder_of, read_run
    from rlk_plot.figure import draw

    folders = list(dict.fromkeys(folder_of(run) for run in runs))
    curves = [read_run(folder) for folder in folders]
    path = out or (
        folders[0] / "learning_curve.png" if len(folders) == 1 else Path("learning_curves.png")
    )
    try:
        draw(curves, path, x=x, smooth=smooth)
    except (OSError, ValueError, OverflowError) as error:
        cause = str(error).removesuffix(".")
        raise RlkError(f"could not write {path}: {cause}.") from error
    click.echo(f"wrote {path}")
