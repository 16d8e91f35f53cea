"""Which file a command reads that takes a model, and `--best`."""

from __future__ import annotations

from pathlib import Path

from rlk.errors import BadFile, PlanError
from rlk.registry.kernel import default_kernel


def model_file(run: str, best: bool | None) -> Path:
    """The file of a model.

    Args:
        run: a run folder, a model or a checkpoint.
        best: whether to take the best model of a run folder; None: if there is one.

    Raises:
        PlanError: for the best model of what is no folder.
        BadFile: if there is no model, or no best one.
    """
    from rlk.running.saved_files import find  # not at the top: it imports torch

    path, _ = find(Path(run), default_kernel(), best=best is not False)
    if best and Path(run).is_file():
        raise PlanError(f"--best selects a model of a run folder, but {run} is a file.")
    if best and not path.name.startswith("best_model."):
        raise BadFile(
            f"{run} holds no best_model.zip: that is what evaluations during training leave "
            "(rlk run … --plugin evaluation). Drop --best to take the last model."
        )
    return path
