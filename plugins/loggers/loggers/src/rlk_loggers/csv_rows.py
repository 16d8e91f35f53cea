"""CSV files that get more rows and more columns; they are complete at any time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rlk.files import append, replacing


def as_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows of cells as they are in a file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def add_rows(path: Path, rows: bytes, columns: Sequence[str], n_there: int) -> None:
    """Add rows to a file, whose earlier rows get an empty cell for each new column.

    A file that is not there begins with all columns.

    Args:
        path: the file.
        rows: those of `as_csv`, with a cell for each column.
        columns: the names of all columns.
        n_there: how many of them the file has already, the first ones; 0 begins it anew.

    Raises:
        OSError: if they cannot be written; the file then holds what it held before.
    """
    if n_there == 0 or not path.exists():
        with replacing(path) as file:
            file.write(as_csv([columns]) + rows)
    elif n_there < len(columns):
        with path.open("rb") as before, replacing(path) as file:
            file.writelines(_widened(before, columns[n_there:]))
            file.write(rows)
    else:
        append(path, rows)


def _widened(lines: Iterable[bytes], new: Sequence[str]) -> Iterator[bytes]:
    """The lines of a file with further columns, which its rows have no values for."""
    cells, is_quoted = b"," + as_csv([new]), False
    for line in lines:
        is_quoted ^= line.count(b'"') % 2 == 1  # a cell in quotes may have several lines
        if is_quoted:
            yield line
        else:
            yield line.rstrip(b"\r\n") + cells
            cells = b"," * len(new) + b"\n"
