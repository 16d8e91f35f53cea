"""The output formats of the logger: tables of text, CSV, JSON and TensorBoard events."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from rlk.growing_file import GrowingFile
from rlk_baselines.log_rows.tensorboard import ScalarWriter
from rlk_loggers.csv_rows import add_rows, as_csv

#: The largest number of characters of keys and values in tables of text.
_WIDTH = 23


class KVWriter:
    """The base class of formats that write rows of values."""

    def writekvs(self, kvs: Mapping[str, Any]) -> None:
        """Write one row: values by key."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""


class SeqWriter:
    """The base class of formats that write text."""

    def writeseq(self, seq: Sequence[str]) -> None:
        """Write words separated by spaces."""
        raise NotImplementedError


class HumanOutputFormat(KVWriter, SeqWriter):
    """Writes every row as a table of text.

    Args:
        filename_or_file: a path, or an open file, which `close` does not close.

    Attributes:
        is_stdout: whether it prints to standard output instead of writing to a file.
    """

    def __init__(self, filename_or_file: str | IO[str]) -> None:
        self._is_own = isinstance(filename_or_file, str)
        self.is_stdout = filename_or_file is sys.stdout
        self.file: IO[str] = (
            open(filename_or_file, "w", encoding="utf-8")  # noqa: SIM115 - it is closed by close()
            if isinstance(filename_or_file, str)
            else filename_or_file
        )

    def writekvs(self, kvs: Mapping[str, Any]) -> None:
        rows = [(key, _for_people(value)) for key, value in sorted(kvs.items())]
        self.write_table([(cut(key, _WIDTH), cut(text, _WIDTH)) for key, text in rows])

    def write_table(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write a table of two columns; nothing if it has no rows."""
        if not rows:
            return
        left, right = (max(map(len, column)) for column in zip(*rows, strict=True))
        line = "-" * (left + right + 7)
        table = [f"| {key:<{left}} | {text:<{right}} |" for key, text in rows]
        self._write("\n".join([line, *table, line]))

    def writeseq(self, seq: Sequence[str]) -> None:
        self._write(" ".join(seq))

    def _write(self, text: str) -> None:
        # sys.stdout may have been replaced since.
        print(text, file=sys.stdout if self.is_stdout else self.file, flush=True)

    def close(self) -> None:
        if self._is_own:
            self.file.close()


def _for_people(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, (float, np.floating)) else str(value)


def cut(text: str, most: int) -> str:
    """A text of at most so many characters, with dots in the place of what is cut off."""
    return f"{text[: most - 3]}..." if len(text) > most else text


class JSONOutputFormat(KVWriter):
    """Writes a line of JSON for every row.

    Args:
        filename: the path of the file.
    """

    def __init__(self, filename: str) -> None:
        self.file = open(filename, "w", encoding="utf-8")  # noqa: SIM115 - it is closed by close()

    def writekvs(self, kvs: Mapping[str, Any]) -> None:
        row = {key: _plain(value) for key, value in sorted(kvs.items())}
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()

    def close(self) -> None:
        self.file.close()


def _plain(value: Any) -> Any:
    """A number, array or tensor as plain Python; anything else is returned as it is.

    As in Stable Baselines, an array of a single number becomes that number.
    """
    if not hasattr(value, "tolist"):
        return value
    return value.item() if getattr(value, "size", None) == 1 else value.tolist()


class CSVOutputFormat(KVWriter):
    """Writes a CSV file with a column for every key; a new key adds a column to all rows.

    Args:
        filename: the path of the file.
    """

    def __init__(self, filename: str) -> None:
        self._file = GrowingFile(Path(filename))
        self._file.path.write_text("", encoding="utf-8")
        self.keys: list[str] = []

    def writekvs(self, kvs: Mapping[str, Any]) -> None:
        keys = [*self.keys, *sorted(kvs.keys() - set(self.keys))]
        row = ["" if kvs.get(key) is None else str(kvs[key]) for key in keys]
        add_rows(self._file, as_csv([row]), keys, n_there=len(self.keys))
        self.keys = keys


class TensorBoardOutputFormat(KVWriter):
    """Writes TensorBoard events; their step is the number of the row, from 1.

    Args:
        folder: the folder for the events.
    """

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self.dir, self.step = folder, 1
        self.writer: ScalarWriter | None = ScalarWriter(Path(folder))

    def writekvs(self, kvs: Mapping[str, Any]) -> None:
        assert self.writer is not None, "it is closed"
        for key, value in sorted(kvs.items()):
            if valid_float_value(value):
                self.writer.add_scalar(key, float(value), self.step)
        self.step += 1

    def close(self) -> None:
        if self.writer is not None:
            self.writer.flush()
            self.writer = None


def valid_float_value(value: Any) -> bool:
    """Whether `float(value)` is possible."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


_FORMATS: dict[str, Callable[[Any], KVWriter]] = {
    "stdout": HumanOutputFormat,
    "log": HumanOutputFormat,
    "json": JSONOutputFormat,
    "csv": CSVOutputFormat,
    "tensorboard": TensorBoardOutputFormat,
}


def make_output_format(
    _format: str,
    ev_dir: str,
    log_suffix: str = "",
    formats: Mapping[str, Callable[[Any], Any]] = _FORMATS,
    events: str | None = None,
) -> Any:
    """Make an output format by its name.

    Args:
        _format: `stdout`, `log`, `json`, `csv` or `tensorboard`.
        ev_dir: the folder for its file, which is made if it does not exist.
        log_suffix: a suffix of the file's name, before the extension.
        formats: the classes by these names.
        events: the folder in `ev_dir` for TensorBoard's events; None means `tb` with the suffix.

    Raises:
        ValueError: for an unknown name.
    """
    names = {
        "log": f"log{log_suffix}.txt",
        "json": f"progress{log_suffix}.json",
        "csv": f"progress{log_suffix}.csv",
        "tensorboard": f"tb{log_suffix}" if events is None else events,
    }
    os.makedirs(ev_dir, exist_ok=True)
    if _format == "stdout":
        return formats[_format](sys.stdout)
    if _format not in names:
        raise ValueError(f"unknown format {_format!r}: it is stdout, log, json, csv or tensorboard")
    return formats[_format](os.path.join(ev_dir, names[_format]))


def read_json(fname: str) -> Any:
    """The rows of a file of `JSONOutputFormat`, as a pandas DataFrame."""
    import pandas

    with open(fname, encoding="utf-8") as file:
        return pandas.DataFrame([json.loads(line) for line in file])


def read_csv(fname: str) -> Any:
    """The rows of a file of `CSVOutputFormat`, as a pandas DataFrame."""
    import pandas

    return pandas.read_csv(fname, index_col=None, comment="#")
