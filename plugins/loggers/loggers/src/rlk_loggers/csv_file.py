"""`csv`: writes every row of metrics to progress.csv, which gets a column for every new tag."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rlk.errors import BadFile
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

    Every run has its own file, also where one object is passed to several.
    """

    def __init__(self) -> None:
        self._files: WeakKeyDictionary[Run, ProgressFile] = WeakKeyDictionary()
        self._restored_rows: WeakKeyDictionary[Run, int] = WeakKeyDictionary()

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "csv")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Continue the run's file, or create it."""
        if run in self._files or run.out is None or run.communicator.rank != 0:
            return
        rows = self._restored_rows.get(run)
        self._files[run] = ProgressFile(run.out / NAME, run.timesteps, rows)
        self._files[run].flush()

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if run in self._files:
            self._files[run].write({TIMESTEPS: run.timesteps, **row})

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        """Write the rows that could not be written before."""
        if run in self._files:
            self._files[run].flush()

    @hookimpl
    def rlk_save(self, run: Run) -> State | None:
        rows = self._files[run].rows if run in self._files else self._restored_rows.get(run)
        return None if rows is None else {"rows": rows}

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._restored_rows[run] = int(state["rows"])


class ProgressFile:
    """The file of one run; what could not be written is kept for the next time.

    A file that is there keeps its first `restored_rows`, or its rows up to these timesteps.

    Attributes:
        rows: the number of the run's rows, also of those that wait; None until it is known.
    """

    def __init__(self, path: Path, timesteps: int, restored_rows: int | None) -> None:
        self._path = path
        self._timesteps, self._restored_rows = timesteps, restored_rows
        self._columns: list[str] = []
        self._waiting: list[Mapping[str, Any]] = []
        self.rows: int | None = None

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row, below those that wait."""
        self._waiting.append(row)
        if self.rows is not None:
            self.rows += 1
        self.flush()

    def flush(self) -> None:
        """Cut the file that is there, the first time, and write the rows that wait."""
        if self.rows is None:
            self.rows = self._cut() + len(self._waiting)
        if not self._waiting:
            return
        new = {tag: None for row in self._waiting for tag in row if tag not in self._columns}
        is_there = self._path.exists()
        if new or not is_there:
            columns = [*self._columns, *new]
            written = _read(self._path)[1] if is_there else []
            _write(self._path, columns, [*written, *self._waiting])
            self._columns = columns
        else:
            append(self._path, _text(self._columns, self._waiting))
        self._waiting = []

    def _cut(self) -> int:
        """Drop the rows after those to keep; returns how many are kept."""
        if not self._path.exists():
            return 0
        columns, rows = _read(self._path)
        kept = self._until(rows) if self._restored_rows is None else rows[: self._restored_rows]
        if columns:
            _write(self._path, columns, kept)
        self._columns = columns
        return len(kept)

    def _until(self, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The rows without those of later timesteps at the end.

        So a run continues whose checkpoint does not hold their number, as of an earlier version.
        What counts from 0 again keeps all rows.
        """
        last = len(rows)
        while self._timesteps and last and self._number(rows[last - 1]) > self._timesteps:
            last -= 1
        return rows[:last]

    def _number(self, row: dict[str, Any]) -> float:
        """The timesteps of a row; BadFile if they are not a number."""
        try:
            return float(row[TIMESTEPS])
        except ValueError:
            problem = f"its column {TIMESTEPS} holds {row[TIMESTEPS]!r}, not a number"
            raise _damaged(self._path, problem) from None


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
    """Columns and complete rows; a row cut off by the end of the process is left out.

    Raises:
        BadFile: if it is not a table of text in UTF-8.
    """
    try:
        text = path.read_text(encoding="utf-8")
        reader = csv.DictReader(text[: text.rfind("\n") + 1].splitlines())
        rows = [row for row in reader if row.get(TIMESTEPS)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, str(error)) from error
    for row in rows:
        if None in row:  # DictReader's key of the cells beyond the last column
            problem = f"the row of {TIMESTEPS}={row[TIMESTEPS]} has more cells than columns"
            raise _damaged(path, problem)
    return list(reader.fieldnames or []), rows


def _damaged(path: Path, problem: str) -> BadFile:
    return BadFile(f"{path} is damaged: {problem}. Move it elsewhere to begin another.")
