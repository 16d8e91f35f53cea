"""`rlk export`. Modules that are slow to import are imported when it is called."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from rlk_cli import completion
from rlk_cli.model_file import load_to_act, model_file
from rlk_cli.options import ENV, PLUGINS, SETTINGS, given
from rlk_export.out_file import check_out

if TYPE_CHECKING:
    from rlk_export.exporting import Exported


@click.command()
@click.argument("model", metavar="MODEL", shell_complete=completion.files)
@click.option(
    "--out",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The file to write: .onnx, or .pt2 for torch.export.",
)
@click.option("--best", is_flag=True, help="Take best_model.zip from a run folder, not model.zip.")
@click.option("--env", **ENV, help="The environment, if it was an object or in a file.")
@click.option(
    "--set",
    "pairs",
    **SETTINGS,
    help="Change a setting: env.frameskip=4. Repeatable.",
)
@click.option(
    "--plugin",
    "plugins",
    **PLUGINS,
    help="Add a plugin; one that came from a ./file.py must be given again. Repeatable.",
)
def export(
    model: str,
    out: Path,
    best: bool,
    env: str | None,
    pairs: tuple[str, ...],
    plugins: tuple[str, ...],
) -> None:
    """Export the policy of a model, for programs that run without rlk.

    MODEL is a run folder, a model.zip or a checkpoint. The exported policy takes observations as
    the environment returns them, and returns the actions of agent.predict(…, deterministic=True).
    It cannot sample actions. It is run and compared with the model before FILE is written.
    """
    check_out(out)
    path = model_file(model, best)
    from rlk_export.exporting import export

    with load_to_act(path, env=env, plugins=plugins, **given(pairs, device="cpu")) as agent:
        if agent.run.communicator.rank > 0:  # under a launcher rank 0 exports, as it trains
            return
        click.echo(_told(path, export(agent, out)))


def _told(model: Path, exported: Exported) -> str:
    """The lines about the written file, and about its inputs and outputs."""
    signature = exported.signature
    rows = [
        (kind, one.name, f"{one.dtype}[{', '.join(map(str, one.shape))}]", one.meaning)
        for kind, ports in (("input", signature.inputs), ("output", signature.outputs))
        for one in ports
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join(part.ljust(width) for part, width in zip(row, [*widths, 0], strict=True)).rstrip()
        for row in rows
    ]
    compared = f"compared with {model}, by {exported.evaluator}: the same actions"
    return "\n".join([f"wrote {exported.path}", *lines, compared])
