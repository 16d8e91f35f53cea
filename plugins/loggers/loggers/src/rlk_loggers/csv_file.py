"""`csv`: writes every row of metrics to progress.csv, which gets a column for every new tag."""

from __future__ import annotations

import contextlib
import csv
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rlk.errors import BadFile
from rlk.hookspecs import hookimpl
from rlk_loggers.csv_rows import add_rows, as_csv
from rlk_loggers.needs_folder import lacks_folder
from rlk_loggers.retries import Retries

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

    def has_unwritten(self, run: Run) -> bool:
        """Whether rows wait, as after a failed write (`rlk.abilities.WritesLater`)."""
        return run in self._files and self._files[run].has_unwritten

    @hookimpl
    def rlk_save(self, run: Run) -> State | None:
        """Write the rows that wait, because they are not written again after this checkpoint."""
        if run in self._files:
            with contextlib.suppress(OSError):  # the end tries again, and raises it
                self._files[run].flush()
        rows = self._files[run].rows if run in self._files else self._restored_rows.get(run)
        return None if rows is None else {"rows": rows}

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._restored_rows[run] = int(state["rows"])


class ProgressFile:
    """The file of one run; what could not be written is kept, and tried again some seconds later.

    A file that is there keeps its first `restored_rows`, or its rows up to these timesteps.

    Attributes:
        rows: the number of the run's rows, also of those that wait; None until it is known.
    """

    def __init__(self, path: Path, timesteps: int, restored_rows: int | None) -> None:
        self._path = path
        self._timesteps, self._restored_rows = timesteps, restored_rows
        self._columns: list[str] = []
        self._n_there = 0  # how many of the columns the file has
        self._waiting: list[Mapping[str, Any]] = []
        self._text = b""  # of rows that waited in a failed attempt, with a cell for each column
        self._retries = Retries()
        self.rows: int | None = None

    @property
    def has_unwritten(self) -> bool:
        """Whether rows wait."""
        return bool(self._waiting or self._text)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row, below those that wait; after a failed attempt it may wait, too."""
        self._waiting.append(row)
        if self.rows is not None:
            self.rows += 1
        if self._retries.are_due():
            self.flush()

    def flush(self) -> None:
        """Cut the file that is there, the first time, and write the rows that wait."""
        with self._retries.attempt():
            if self.rows is None:
                self.rows = self._cut() + len(self._waiting)
            self._format_waiting()
            if self._text:
                add_rows(self._path, self._text, self._columns, self._n_there)
                self._text, self._n_there = b"", len(self._columns)

    def _format_waiting(self) -> None:
        """Turn the rows that wait into text, each of them once."""
        known = {*self._columns}
        new = [*dict.fromkeys(tag for row in self._waiting for tag in row if tag not in known)]
        if new:
            self._text = self._text.replace(b"\n", b"," * len(new) + b"\n")  # cells are numbers
            self._columns += new
        self._text += as_csv([row.get(tag, "") for tag in self._columns] for row in self._waiting)
        self._waiting = []

    def _cut(self) -> int:
        """Drop the rows after those to keep; returns how many are kept."""
        if not self._path.exists():
            return 0
        rows = _whole_rows(self._path)
        columns, end = next(rows, ([], 0))
        at = columns.index(TIMESTEPS) if TIMESTEPS in columns else len(columns)
        seen = kept = 0
        for cells, end_of_row in rows:
            if seen == self._restored_rows:
                break
            timesteps = cells[at] if at < len(cells) else ""
            if len(cells) > len(columns):
                problem = f"the row of {TIMESTEPS}={timesteps} has more cells than columns"
                raise _damaged(self._path, problem)
            if timesteps:
                seen += 1
                if self._restored_rows is not None or not self._is_later(timesteps):
                    kept, end = seen, end_of_row
        if columns:
            os.truncate(self._path, end)
        self._columns, self._n_there = columns, len(columns)
        return kept

    def _is_later(self, timesteps: str) -> bool:
        """Whether a row has later timesteps than the run; BadFile if they are not a number.

        So a run continues whose checkpoint does not hold the number of its rows, as of an earlier
        version: such rows at the end are dropped. What counts from 0 again keeps all rows.
        """
        try:
            return 0 < self._timesteps < float(timesteps)
        except ValueError:
            problem = f"its column {TIMESTEPS} holds {timesteps!r}, not a number"
            raise _damaged(self._path, problem) from None


def _whole_rows(path: Path) -> Iterator[tuple[list[str], int]]:
    """The cells of each row, those of the columns' names first, and where in the file it ends.

    A row cut off by the end of the process is left out.

    Raises:
        BadFile: if it is not a table of text in UTF-8.
    """
    end = 0

    def lines() -> Iterator[str]:
        nonlocal end
        with path.open("rb") as file:
            for line in file:
                if not line.endswith(b"\n"):
                    return
                end += len(line)
                yield line.decode()

    try:
        for cells in csv.reader(lines()):
            yield cells, end
    except (UnicodeDecodeError, csv.Error) as error:
        raise _damaged(path, str(error)) from error


def _damaged(path: Path, problem: str) -> BadFile:
    return BadFile(f"{path} is damaged: {problem}. Move it elsewhere to begin another.")
