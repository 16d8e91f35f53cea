"""`rlk plot`: draws learning curves. Modules that are slow to import are imported when called."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
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
    help="What runs along the horizontal axis.",
)
@click.option(
    "--smooth",
    type=click.IntRange(1),
    metavar="N",
    help="Average over so many episodes.",
)
def plot(runs: tuple[str, ...], out: Path | None, x: str, smooth: int | None) -> None:
    """Draw learning curves.

    RUN is a run folder; several runs that differ only in their seed are drawn as their mean and
    spread. Without --out the image is learning_curve.png in the folder of a single run, else
    learning_curves.png in this one.
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
        raise RlkError(f"could not write {path}: {error}") from error
    click.echo(f"wrote {path}")
