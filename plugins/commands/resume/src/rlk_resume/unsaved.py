"""A run folder with a plan and no checkpoint: whether its run may begin again, from its start.

It may only if nothing but the start can be missing: `rlk run` began it at timestep 0, it saves
checkpoints, and its rows end before its last timestep. So it was killed before the first one, or
failed before it could save one, as by NaN; the files do not tell which.
"""

from __future__ import annotations

import csv
from pathlib import Path

from rlk.command_line import command_line, path_word
from rlk.errors import BadFile
from rlk.files import looking_at
from rlk.restoring.saved_records import SavedPlan

#: The callback of rlk-callbacks that saves checkpoints.
CHECKPOINT = "checkpoint"
PROGRESS = "progress.csv"
TIMESTEPS = "time/total_timesteps"


def refuse_to_begin(folder: Path, saved: SavedPlan) -> None:
    """Raise BadFile, with what to type, unless the run may begin again.

    Args:
        folder: of the run, without a checkpoint and without a model.
        saved: its `plan.json`.
    """
    lacks = f"{folder} holds no model and no checkpoint"
    if not saved.begun_by:
        raise BadFile(
            f"{lacks}, and its run cannot begin again, because its plan.json is not of a run that "
            "rlk run began: it belongs to a program, or continued another run. Type what it was "
            "begun with, with another folder."
        )
    again = command_line(["rlk", "run", path_word(folder / "spec.toml"), "--out", "DIR"])
    in_new_folder = f"To train it again, in a new folder: {again}"
    if not any((one.slot, one.name) == ("callback", CHECKPOINT) for one in saved.components):
        raise BadFile(
            f"{lacks}: its plan has no callback '{CHECKPOINT}', which saves both. {in_new_folder} "
            f"--plugin {CHECKPOINT}"
        )
    done = trained(folder)
    if done >= saved.run.total_timesteps:
        raise BadFile(
            f"{lacks}, but {PROGRESS} has its last timestep, {done:,}: it trained to its end. "
            f"{in_new_folder}"
        )


def trained(folder: Path) -> int:
    """The latest timestep in a run's rows of metrics; 0 if it has none.

    Raises:
        BadFile: if they cannot be read.
    """
    path = folder / PROGRESS
    with looking_at(path, f"cannot read {path}"):
        if not path.exists():
            return 0
        try:
            with path.open(encoding="utf-8", newline="") as file:
                return max((_number(row.get(TIMESTEPS)) for row in csv.DictReader(file)), default=0)
        except (ValueError, csv.Error) as error:
            raise BadFile(
                f"{path} is damaged ({error}), so whether its run ended is not known. If it was "
                "killed, move the file elsewhere, and type it again."
            ) from error


def _number(cell: str | None) -> int:
    """A cell of timesteps; 0 for one that is missing, as in a row that was cut off."""
    return int(cell) if cell else 0
