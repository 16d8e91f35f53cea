"""CSV files that get more rows and more columns; they are complete at any time."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rlk.files import replacing
from rlk.growing_file import GrowingFile


def as_csv(rows: Iterable[Iterable[Any]]) -> bytes:
    """Rows of cells as they are in a file."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def add_rows(file: GrowingFile, rows: bytes, columns: Sequence[str], n_there: int) -> bool:
    """Add rows to a file, whose earlier rows get an empty cell for each new column.

    A file that is missing or empty begins with all columns.

    Args:
        file: the file.
        rows: those of `as_csv`, with a cell for each column.
        columns: the names of all columns.
        n_there: how many of them the file has already, the first ones; 0 begins it anew.

    Returns:
        Whether it began anew: these rows are all that it has.

    Raises:
        OSError: if they cannot be written; the file then holds what it held before.
    """
    head = as_csv([columns])
    if n_there == 0:
        file.begin(head + rows)
        return True
    if n_there < len(columns) and file.has_begun():
        file.cut_broken_end()
        with file.path.open("rb") as before, replacing(file.path) as wider:
            wider.writelines(_widened(before, columns[n_there:]))
            wider.write(rows)
        return False
    return file.write(rows, head)


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
