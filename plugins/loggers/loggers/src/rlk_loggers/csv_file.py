"""`csv`: every row of metrics in progress.csv, which gets a column for every new tag."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl
from rlk_loggers.needs_folder import lacks_folder

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run

NAME = "progress.csv"
TIMESTEPS = "time/total_timesteps"


class CsvLogger:
    """Writes each row at once; a resumed run continues below the rows of its checkpoint."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._file: IO[str] | None = None
        self._columns: list[str] = []

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "csv")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Continue the run's file, or begin it."""
        if self._path is not None or run.out is None or run.communicator.rank != 0:
            return
        self._path = run.out / NAME
        run.on_close.append(self._close)
        if self._path.exists():
            self._columns, rows = _read(self._path)
            self._replace([row for row in rows if float(row[TIMESTEPS]) <= run.timesteps])

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if self._path is None:
            return
        row = {TIMESTEPS: run.timesteps, **row}
        unknown = [tag for tag in row if tag not in self._columns]
        if unknown:
            rows: list[dict[str, Any]] = []
            if self._file is not None:
                self._file.flush()
                rows = _read(self._path)[1]
            self._columns += unknown
            self._replace(rows)
        assert self._file is not None
        self._writer.writerow(row)
        self._file.flush()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _replace(self, rows: list[dict[str, Any]]) -> None:
        """Replace the file by one with the present columns; it is complete at any time."""
        assert self._path is not None
        self._close()
        if not self._columns:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        aside = self._path.with_name(f".{NAME}.new")
        self._file = aside.open("w", newline="")
        self._writer = csv.DictWriter(self._file, self._columns, lineterminator="\n")
        self._writer.writeheader()
        self._writer.writerows(rows)
        self._file.flush()
        os.replace(aside, self._path)


def _read(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and whole rows; a row that was being written when the process died is left out."""
    text = path.read_text()
    reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
    rows = [row for row in reader if row.get(TIMESTEPS)]
    return list(reader.fieldnames or []), rows
