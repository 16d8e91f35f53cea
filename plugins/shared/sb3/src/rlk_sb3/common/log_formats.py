"""The output formats of a logger: tables of text, CSV, JSON and TensorBoard events.

Custom formats derive from `KVWriter`, and are passed to `Logger`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, ClassVar

import numpy as np
import torch

from rlk_baselines.log_rows import log_formats
from rlk_baselines.log_rows.log_formats import cut
from rlk_baselines.log_rows.tensorboard import ScalarWriter
from rlk_sb3.common.log_objects import OBJECTS, FormatUnsupportedError

#: Key -> the formats that leave it out.
Excluded = Mapping[str, tuple[str, ...]]


class KVWriter:
    """The base class of formats that write rows of values."""

    def write(self, key_values: dict[str, Any], key_excluded: Excluded, step: int = 0) -> None:
        """Write one row: values by key, at timestep `step`."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the file."""


class SeqWriter(log_formats.SeqWriter):
    """The base class of formats that write text."""

    def writeseq(self, seq: Sequence[str]) -> None:
        self.write_sequence(seq)

    def write_sequence(self, sequence: Sequence[str]) -> None:
        """Write words separated by spaces."""
        raise NotImplementedError


class HumanOutputFormat(KVWriter, SeqWriter):
    """Writes every row as a table of text, with keys grouped by the part before their slash.

    Args:
        filename_or_file: a path, or an open file, which `close` does not close.
        max_length: the largest number of characters of a key or a value; longer ones are cut off.
    """

    def __init__(self, filename_or_file: str | IO[str], max_length: int = 36) -> None:
        self._words = log_formats.HumanOutputFormat(filename_or_file)
        self.max_length = max_length

    def write(self, key_values: dict[str, Any], key_excluded: Excluded, step: int = 0) -> None:
        rows: list[tuple[str, str]] = []
        group = ""
        for key, value in sorted(_plain(key_values, key_excluded, "stdout", "log").items()):
            before, slash, name = key.rpartition("/")
            if slash and before != group:
                group = before
                rows.append((f"{group}/", ""))
            text = f"{value:<8.3g}" if isinstance(value, (float, np.floating)) else str(value)
            shown = f"   {name}" if slash else key
            rows.append((cut(shown, self.max_length), cut(text.strip(), self.max_length)))
        self._words.write_table(rows)

    def write_sequence(self, sequence: Sequence[str]) -> None:
        self._words.writeseq(sequence)

    def close(self) -> None:
        self._words.close()


class _Plain(log_formats.KVWriter, KVWriter):
    """Writes rows of numbers and text by `writekvs`.

    Attributes:
        name: of the format, by which keys exclude it.
    """

    name: ClassVar[str]

    def write(self, key_values: dict[str, Any], key_excluded: Excluded, step: int = 0) -> None:
        self.writekvs(_plain(key_values, key_excluded, self.name))


class JSONOutputFormat(log_formats.JSONOutputFormat, _Plain):
    """Writes a line of JSON for every row.

    Args:
        filename: the path of the file.
    """

    name = "json"


class CSVOutputFormat(log_formats.CSVOutputFormat, _Plain):
    """Writes a CSV file with a column for every key; a new key adds a column to all rows.

    Args:
        filename: the path of the file.
    """

    name = "csv"


class TensorBoardOutputFormat(KVWriter):
    """Writes TensorBoard events by timestep; arrays become histograms, and strings text.

    Args:
        folder: the folder for the events, or their writer.
    """

    def __init__(self, folder: str | os.PathLike[str] | ScalarWriter) -> None:
        self.writer = folder if isinstance(folder, ScalarWriter) else ScalarWriter(Path(folder))

    def write(self, key_values: dict[str, Any], key_excluded: Excluded, step: int = 0) -> None:
        for key, value in sorted(
            filter_excluded_keys(key_values, key_excluded, "tensorboard").items()
        ):
            if isinstance(value, OBJECTS):
                for one in value.summaries(key):
                    self.writer.add_summary(one, step)
            elif isinstance(value, (np.ndarray, torch.Tensor)) and np.size(value) != 1:
                self.writer.add_histogram(key, np.asarray(value), step)
            elif isinstance(value, str):
                self.writer.add_text(key, value, step)
            elif log_formats.valid_float_value(value):
                self.writer.add_scalar(key, float(value), step)
        self.writer.flush()

    def close(self) -> None:
        self.writer.flush()


def filter_excluded_keys(
    key_values: Mapping[str, Any], key_excluded: Excluded, *names: str
) -> dict[str, Any]:
    """The values without those that exclude one of these format names.

    A program that calls `write` itself may give one name, or None, instead of a tuple of names.
    """

    def excluded(key: str) -> set[str]:
        found: Any = key_excluded.get(key)
        return {found} if isinstance(found, str) else {*(found or ())}

    return {key: value for key, value in key_values.items() if not excluded(key) & {*names}}


def _plain(key_values: Mapping[str, Any], key_excluded: Excluded, *names: str) -> dict[str, Any]:
    """As `filter_excluded_keys`, for a format that only holds numbers and text.

    Raises:
        FormatUnsupportedError: if a value is a figure, an image or hyperparameters.
    """
    kept = filter_excluded_keys(key_values, key_excluded, *names)
    for key, value in kept.items():
        if isinstance(value, OBJECTS):
            kind = f"of the class {type(value).__name__}, which only tensorboard shows"
            raise FormatUnsupportedError(names, f"{key!r} ({kind})")
    return kept


_FORMATS: dict[str, Callable[[Any], KVWriter]] = {
    "stdout": HumanOutputFormat,
    "log": HumanOutputFormat,
    "json": JSONOutputFormat,
    "csv": CSVOutputFormat,
    "tensorboard": TensorBoardOutputFormat,
}


def make_output_format(_format: str, log_dir: str, log_suffix: str = "") -> Any:
    """Make an output format by its name.

    Args:
        _format: `stdout`, `log`, `json`, `csv` or `tensorboard`.
        log_dir: the folder for its file, which is made if it does not exist.
        log_suffix: a suffix of the file's name, before the extension.

    Raises:
        ValueError: for an unknown name.
    """
    return log_formats.make_output_format(_format, log_dir, log_suffix, _FORMATS, events="")
