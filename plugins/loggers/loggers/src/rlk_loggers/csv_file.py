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
from rlk.growing_file import GrowingFile
from rlk.hookspecs import hookimpl
from rlk_loggers.csv_rows import add_rows, as_csv
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
        self._restored: WeakKeyDictionary[Run, State] = WeakKeyDictionary()

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "csv")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Continue the run's file, or create it."""
        if run in self._files or run.out is None or run.communicator.rank != 0:
            return
        restored = self._restored.get(run)
        self._files[run] = ProgressFile(run.out / NAME, run.timesteps, restored)
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
        if run not in self._files:
            return self._restored.get(run)
        with contextlib.suppress(OSError):  # the end tries again, and raises it
            self._files[run].flush()
        return self._files[run].state()

    @hookimpl
    def rlk_load(self, run: Run, state: State) -> None:
        self._restored[run] = state


class ProgressFile:
    """The file of one run; what could not be written is kept, and tried again some seconds later.

    A file that is there keeps the rows that it had at the checkpoint. Where that is not known, or
    the file was begun anew since then, it keeps its rows up to these timesteps.

    Args:
        path: the file.
        timesteps: those of the run.
        restored: `state` at the checkpoint, or None.
    """

    def __init__(self, path: Path, timesteps: int, restored: State | None) -> None:
        self._file = GrowingFile(path)
        self._timesteps = timesteps
        self._restored_rows = None if restored is None else int(restored["rows"])
        self._restored_at = None if restored is None else restored["timesteps"]
        self._columns: list[str] = []
        self._n_there = 0  # how many of the columns the file has
        self._waiting: list[Mapping[str, Any]] = []
        self._text = b""  # of rows that waited in a failed attempt, with a cell for each column
        self._rows: int | None = None  # with those that wait; None until the file was read
        self._latest: float | None = None  # the timesteps of the last of them

    def state(self) -> State | None:
        """The number of its rows, also waiting ones, and the timesteps of the last one.

        None until the file that is there was read.
        """
        return None if self._rows is None else {"rows": self._rows, "timesteps": self._latest}

    @property
    def has_unwritten(self) -> bool:
        """Whether rows wait."""
        return bool(self._waiting or self._text)

    def write(self, row: Mapping[str, Any]) -> None:
        """Write a row, below those that wait; after a failed attempt it may wait, too."""
        self._waiting.append(row)
        self._latest = row[TIMESTEPS]
        if self._rows is not None:
            self._rows += 1
        if self._file.is_due():
            self.flush()

    def flush(self) -> None:
        """Cut the file that is there, the first time, and write the rows that wait."""
        with self._file.attempt():
            if self._rows is None:
                self._rows = self._cut() + len(self._waiting)
            self._format_waiting()
            if self._text:
                if add_rows(self._file, self._text, self._columns, self._n_there):
                    self._rows = self._text.count(b"\n")
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
        """Drop the rows after those to keep; returns how many are kept.

        A file that is empty, or was cut off in its columns, is begun anew by the first row.
        """
        path = self._file.path
        if not path.exists():
            return 0
        rows = _whole_rows(path)
        columns, end = next(rows, (None, 0))
        if columns is None:
            return 0
        if TIMESTEPS not in columns:
            raise _damaged(path, f"its first line does not name the column {TIMESTEPS}")
        kept, latest = 0, None
        for seen, (timesteps, end_of_row) in enumerate(_timesteps(path, columns, rows), start=1):
            if self._restored_rows == 0:
                break
            is_last = (seen, timesteps) == (self._restored_rows, self._restored_at)
            if is_last or not 0 < self._timesteps < timesteps:  # what counts from 0 keeps all
                kept, latest, end = seen, timesteps, end_of_row
            if is_last:
                break
        os.truncate(path, end)
        self._columns, self._n_there = columns, len(columns)
        if not self._waiting:
            self._latest = latest
        return kept


def _timesteps(
    path: Path, columns: list[str], rows: Iterator[tuple[list[str], int]]
) -> Iterator[tuple[float, int]]:
    """The timesteps of each row that has any, and where in the file it ends.

    Raises:
        BadFile: if they are not a number, or a row has more cells than there are columns.
    """
    at = columns.index(TIMESTEPS)
    for cells, end in rows:
        found = cells[at] if at < len(cells) else ""
        if len(cells) > len(columns):
            raise _damaged(path, f"the row of {TIMESTEPS}={found} has more cells than columns")
        if not found:
            continue
        try:
            timesteps = float(found)
        except ValueError:
            problem = f"its column {TIMESTEPS} holds {found!r}, not a number"
            raise _damaged(path, problem) from None
        yield timesteps, end


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
