"""monitor.csv: one row per episode, below a line of JSON with the start time and the id.

    #{"t_start": 1700000000.0, "env_id": "CartPole-v1"}
    r,l,t
    21.0,21,0.01432

The layout is that of `stable_baselines.bench.Monitor` (Stable Baselines 2.10), so that its readers
and plotters can read the file. Where a loaded run goes on in another folder, or the file was moved
away while the run wrote to it, the first line has `timesteps` too, its count when the first
episodes of the file began, and `episodes_before`, how many of the run are in earlier files. Of
several ranks only the first writes its episodes; then the line has `ranks`, how many they are.
"""

from __future__ import annotations

import csv
import io
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rlk.documents import parse_json
from rlk.errors import RlkError
from rlk.files import users_path
from rlk.growing_file import GrowingFile
from rlk.hookspecs import hookimpl
from rlk_wrappers.columns import plain
from rlk_wrappers.config import COLUMNS

if TYPE_CHECKING:
    from rlk.protocols import State
    from rlk.running.run import Run

#: The suffix of such a file's name; `load_results` looks for it.
SUFFIX = "monitor.csv"
DIGITS = 6


class EpisodeFile:
    """The file that episodes are written to.

    Rows that cannot be written are kept for the next attempt. In a run, which calls its hooks, the
    error is raised at the end of the iteration, where a failed write does not end training.

    Args:
        path: the file; created with the first row, so that a run without episodes leaves none.
        extras: the columns after r, l and t.
        env_id: for the header.
        append: keep the rows of the file (for a resumed run). Otherwise they are replaced; in a run
            that was not resumed, they are refused.
        flush_seconds: how long a row may stay in the buffer; 0 flushes every row.
        in_run: whether a run calls its hooks.

    Attributes:
        unfinished: a function of the one who writes the episodes: the steps of those that have not
            ended yet.

    Raises:
        RlkError: if the file to append to is not a monitor file or has other columns.
    """

    def __init__(
        self,
        path: Path,
        extras: Sequence[str] = (),
        *,
        env_id: str | None,
        append: bool,
        flush_seconds: float,
        in_run: bool = False,
    ) -> None:
        self.path = Path(os.path.abspath(path))  # the working folder may change
        self._file = GrowingFile(self.path)
        self.rows = 0  #: of the run, also those that wait or are in earlier files
        self.pending = False  #: whether rows wait to be written
        self.unfinished: Callable[[], int] = lambda: 0
        self._columns = [*COLUMNS, *extras]
        self._env_id, self._append, self._flush_seconds = env_id, append, flush_seconds
        self._waiting: list[bytes] = []  # rows
        self._waiting_steps = 0  # of their episodes
        self._in_run = in_run
        self._error: OSError | None = None
        self._is_behind = False  # since a write failed
        self._flushed = self._started = time.monotonic()
        self._t_start, self._timesteps, self._ranks = time.time(), 0, 1
        self._earlier: int | None = None  # timesteps of calls of `learn` before the file's first
        if append and path.exists():
            self._keep(None)

    def elapsed(self) -> float:
        """Seconds since the start; for a resumed run, without the time between the two runs."""
        return round(time.monotonic() - self._started, DIGITS)

    def write(
        self, return_: float, length: int, seconds: float, extras: Sequence[Any] = ()
    ) -> None:
        """Write one episode; its return is shortened."""
        self._waiting.append(_row((shortened(return_), length, seconds, *map(plain, extras))))
        self._waiting_steps += length
        self.rows += 1
        self.pending = True
        self.flush_if_due()

    def flush_if_due(self) -> None:
        """Flush rows if the last flush was `flush_seconds` ago or more, and did not just fail."""
        if time.monotonic() - self._flushed >= self._flush_seconds and self._file.is_due():
            self.flush()

    def write_head(self) -> None:
        """Create the file now, before any episode has ended."""
        self.pending = True
        self.flush()

    def flush(self) -> None:
        """Write all buffered rows to the file."""
        if not self.pending:
            return
        self._flushed = time.monotonic()
        try:
            self._write_waiting()
        except OSError as error:
            self._is_behind = True
            if not self._in_run:
                raise
            self._error = error

    def _write_waiting(self) -> None:
        rows = b"".join(self._waiting)
        with self._file.attempt():
            if self._append:
                self._file.write(rows, self._head())
            else:
                self._file.begin(self._head() + rows)
        self._append = True
        self._timesteps += self._waiting_steps
        self._waiting, self._waiting_steps = [], 0
        self.pending = self._is_behind = False
        self._error = None

    def _head(self) -> bytes:
        """The lines before the first of the rows that wait, in a file that begins with it."""
        about: dict[str, Any] = {"t_start": self._t_start, "env_id": self._env_id}
        if self._timesteps:
            about["timesteps"] = self._timesteps
        if before := self.rows - len(self._waiting):
            about["episodes_before"] = before
        if self._ranks > 1:
            about["ranks"] = self._ranks
        return f"#{json.dumps(about)}\n".encode() + _row(self._columns)

    def keep(self, rows: int) -> None:
        """Drop everything after the first `rows` rows of the run, which continues from there."""
        self.flush()
        if self._append and self.path.exists():
            self._keep(rows)

    # ---- in a run --------------------------------------------------------------------------------

    def has_unwritten(self, run: Run) -> bool:
        """Whether rows of a failed write still wait (`rlk.abilities.WritesLater`)."""
        return self._is_behind

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Note when the first episodes that wait began; refuse to add any to another run's file.

        Timesteps count on from the first call of `learn`, as `cumulative_timesteps` do.
        """
        clock = run.clock
        if self._earlier is None:
            self._earlier = clock.earlier_timesteps
        timesteps = clock.cumulative_timesteps - self._earlier
        self._ranks = run.communicator.size
        begun = timesteps // self._ranks - self.unfinished()  # of this rank's episodes
        self._timesteps = max(0, begun - self._waiting_steps)
        if not self._append and self._file.has_begun():
            raise RlkError(
                f"wrapper 'monitor' (rlk-wrappers): {self.path} is there already, and a new run "
                "does not add its episodes to those of another. Move it away, or name another "
                "file (--set monitor.filename=…)."
            )

    @hookimpl
    def rlk_update_end(self) -> None:
        """Raise the error of a write that failed since the last iteration."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    @hookimpl
    def rlk_training_end(self) -> None:
        """Write the remaining rows, and raise if that fails."""
        self.flush()
        self.rlk_update_end()

    @hookimpl
    def rlk_save(self) -> State:
        """When a checkpoint is saved, write the rows so far, in case this process is killed."""
        self.flush()
        return {"rows": self.rows, "earlier_timesteps": self._earlier}

    @hookimpl
    def rlk_load(self, state: State) -> None:
        """Rows after the checkpoint are dropped, because those episodes are played again."""
        self._append = True
        earlier = state["earlier_timesteps"]
        self._earlier = None if earlier is None else int(earlier)
        self.keep(int(state["rows"]))

    def _keep(self, rows: int | None) -> None:
        """Cut the file after so many rows of the run (None: after the last whole one).

        Its clock goes on. It is read line by line: after weeks it may have many millions.
        """
        with self.path.open("rb") as file:
            head, names = file.readline(), file.readline()
            is_cut_off = not names.endswith(b"\n") and head[:2] in (b"", b"#{")
            before = 0 if is_cut_off else self._episodes_before(head, names)
            end = file.tell()
            if is_cut_off or (rows is not None and rows < before):
                before, end = rows or 0, 0  # it begins anew, with the first lines of now
            kept, last = 0, b""
            for row in islice(file, None if rows is None else rows - before):
                if row.endswith(b"\n"):
                    kept, last, end = kept + 1, row, end + len(row)
        os.truncate(self.path, end)
        self.rows = before + kept
        seconds = float(next(csv.reader([last.decode()]))[2]) if last else 0.0
        self._started = time.monotonic() - seconds

    def _episodes_before(self, head: bytes, names: bytes) -> int:
        """How many episodes of the run are in earlier files, by the first two lines of this one.

        Raises:
            RlkError: if they are not those of a monitor file with these columns.
        """
        found = next(csv.reader([names.decode(errors="replace")]), [])
        problem = f"it has the columns {found}, not {self._columns}"
        if head.startswith(b"#{") and found == self._columns:
            try:
                return int(parse_json(head[1:]).get("episodes_before", 0))
            except (ValueError, TypeError) as error:
                problem = f"its first line is damaged ({error})"
        raise RlkError(
            f"{self.path} cannot be appended to: {problem}. Move it away, or name another file "
            "(--set monitor.filename=…)."
        )


def _row(cells: Iterable[Any]) -> bytes:
    """One line of the file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue().encode()


def shortened(return_: float) -> float:
    """A return with six decimals, as in Stable Baselines; below 1, with six significant digits.

    So small returns do not become 0. NaN and infinity stay what they are.
    """
    return float(f"{return_:.{DIGITS}g}") if abs(return_) < 1.0 else round(return_, DIGITS)


def episode_path(filename: str | os.PathLike[str]) -> Path:
    """The file that Stable Baselines' Monitor writes for a name: for `x`, x.monitor.csv."""
    path = users_path(filename)
    if path.name.endswith(SUFFIX):
        return path
    return path / SUFFIX if path.is_dir() else path.with_name(f"{path.name}.{SUFFIX}")
