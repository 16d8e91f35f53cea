"""`csv`: writes every row of metrics to progress.csv, which gets a column for every new tag."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.files import append, replacing
from rlk.hookspecs import hookimpl
from rlk_loggers.needs_folder import lacks_folder

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.protocols import State
    from rlk.running.run import Run

NAME = "progress.csv"
TIMESTEPS = "time/total_timesteps"


class CsvLogger:
    """Writes each row at once; a resumed run continues below the rows of its checkpoint.

    Rows that could not be written are kept for the next time.
    """

    def __init__(self) -> None:
        self._path: Path | None = None
        self._columns: list[str] = []
        self._waiting: list[Mapping[str, Any]] = []
        self._rows: int | None = None  #: of the run, also those that wait; None if not known

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "csv")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Continue the run's file, or create it."""
        if self._path is not None or run.out is None or run.communicator.rank != 0:
            return
        path, kept = run.out / NAME, list[dict[str, Any]]()
        if path.exists():
            columns, rows = _read(path)
            kept = _until(rows, run.timesteps) if self._rows is None else rows[: self._rows]
            if columns:
                _write(path, columns, kept)
            self._columns = columns
        self._path, self._rows = path, len(kept)

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if self._path is None:
            return
        assert self._rows is not None
        self._rows += 1
        self._waiting.append({TIMESTEPS: run.timesteps, **row})
        self._write_waiting(self._path)

    @hookimpl
    def rlk_training_end(self) -> None:
        """Write the rows that could not be written before."""
        if self._path is not None and self._waiting:
            self._write_waiting(self._path)

    @hookimpl
    def rlk_save(self) -> State | None:
        return None if self._rows is None else {"rows": self._rows}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        self._rows = int(state["rows"])

    def _write_waiting(self, path: Path) -> None:
        new = {tag: None for row in self._waiting for tag in row if tag not in self._columns}
        is_there = path.exists()
        if new or not is_there:
            columns = [*self._columns, *new]
            _write(path, columns, [*(_read(path)[1] if is_there else []), *self._waiting])
            self._columns = columns
        else:
            append(path, _text(self._columns, self._waiting))
        self._waiting = []


def _until(rows: list[dict[str, Any]], timesteps: int) -> list[dict[str, Any]]:
    """The rows without those of later timesteps at the end.

    So a run continues whose checkpoint does not hold their number, as of an earlier version. What
    counts from 0 again keeps all rows.
    """
    last = len(rows)
    while timesteps and last and float(rows[last - 1][TIMESTEPS]) > timesteps:
        last -= 1
    return rows[:last]


def _write(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> None:
    """Replace the file by one with these columns; the file is complete at any time."""
    header = [dict(zip(columns, columns, strict=True))]
    with replacing(path) as file:
        file.write(_text(columns, [*header, *rows]))


def _text(columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> bytes:
    text = io.StringIO()
    csv.DictWriter(text, columns, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def _read(path: Path) -> tuple[list[str], list[dict[str, Any]]]:
    """Columns and complete rows; a row cut off by the end of the process is left out."""
    text = path.read_text(encoding="utf-8")
    reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
    rows = [row for row in reader if row.get(TIMESTEPS)]
    return list(reader.fieldnames or []), rows
