"""`rlk plot`: draws learning curves. Modules that are slow to import are imported when called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlk_cli.completion import folders

if TYPE_CHECKING:
    from rlk_plot.curves import Curve


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
    with their spread. Of several runs, those that cannot be drawn are left out, with a note.
    Without --out, the file is learning_curve.png in the folder of a single run, or
    learning_curves.png in the current folder for several runs.
    """
    from rlk.errors import RlkError
    from rlk_plot.figure import draw
    from rlk_plot.notes import notes_on

    curves, left_out = _read(runs, x)
    is_single = len(curves) + len(left_out) == 1
    path = out or (
        curves[0].folder / "learning_curve.png" if is_single else Path("learning_curves.png")
    )
    for note in (*(f"not drawn: {reason}" for reason in left_out), *notes_on(curves, x)):
        click.echo(f"note: {note}", err=True)
    try:
        draw(curves, path, x=x, smooth=smooth)
    except (OSError, ValueError, OverflowError) as error:
        cause = str(error).removesuffix(".")
        raise RlkError(f"could not write {path}: {cause}.") from error
    click.echo(f"wrote {path}")


def _read(runs: Sequence[str], x: str) -> tuple[list[Curve], list[str]]:
    """The curves of these runs over `x`, one for each folder, and why each of the others has none.

    Raises:
        RlkError: if one does not exist, which a pattern of the shell never gives, or if there is no
            curve at all.
    """
    from rlk.errors import RlkError
    from rlk_plot.curves import check_exists, folder_of, read_run

    for run in runs:
        check_exists(run)
    curves: dict[Path, Curve] = {}
    errors: dict[str, RlkError] = {}
    for run in runs:
        try:
            folder = folder_of(run)
            if folder not in curves:
                curve = read_run(folder)
                curve.x(x)
                curves[folder] = curve
        except RlkError as error:
            errors[str(error)] = error
    if not curves:
        raise RlkError("\n".join(errors)) from next(iter(errors.values()))
    return list(curves.values()), list(errors)
