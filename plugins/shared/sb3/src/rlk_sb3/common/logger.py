"""Loggers for rows of metrics; every model has its own `Logger`, `model.logger`."""

from __future__ import annotations

import datetime
import os
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rlk_baselines.logger import DEBUG, DISABLED, ERROR, INFO, WARN, Levels, read_csv, read_json
from rlk_sb3.common.log_formats import (
    CSVOutputFormat,
    HumanOutputFormat,
    JSONOutputFormat,
    KVWriter,
    SeqWriter,
    TensorBoardOutputFormat,
    filter_excluded_keys,
    make_output_format,
)
from rlk_sb3.common.log_objects import (
    Figure,
    FormatUnsupportedError,
    HParam,
    Image,
    Video,
)
from rlk_sb3.elsewhere import refusing

__all__ = [
    "DEBUG",
    "DISABLED",
    "ERROR",
    "INFO",
    "WARN",
    "CSVOutputFormat",
    "Figure",
    "FormatUnsupportedError",
    "HParam",
    "HumanOutputFormat",
    "Image",
    "JSONOutputFormat",
    "KVWriter",
    "Logger",
    "SeqWriter",
    "TensorBoardOutputFormat",
    "Video",
    "configure",
    "filter_excluded_keys",
    "make_output_format",
    "read_csv",
    "read_json",
]

__getattr__ = refusing(__name__)


Exclude = str | tuple[str, ...] | None


class Logger(Levels):
    """Collects values by key, and writes them as a row.

    Args:
        folder: the folder of the files, or None.
        output_formats: the formats, each with its file.

    Attributes:
        name_to_value: the values of the next row so far, and the latest of `keep`.
        name_to_count: the number of values in each mean.
        name_to_excluded: the formats that leave a key out.
    """

    def __init__(self, folder: str | None, output_formats: Sequence[Any]) -> None:
        self.name_to_value: dict[str, Any] = defaultdict(float)
        self.name_to_count: dict[str, int] = defaultdict(int)
        self.name_to_excluded: dict[str, tuple[str, ...]] = {}
        self._kept: set[str] = set()  # keys whose value is shown, but was written already
        super().__init__(folder, output_formats)

    def record(self, key: str, value: Any, exclude: Exclude = None) -> None:
        """Set a value of the next row; `exclude` names formats that leave it out."""
        self.name_to_value[key] = value
        self.name_to_excluded[key] = _names(exclude)
        self._kept.discard(key)

    def keep(self, values: Mapping[str, Any]) -> None:
        """Show values that were written in `name_to_value`, where callbacks may look for them.

        They are not written again.
        """
        self.name_to_value.update(values)
        self._kept.update(values)

    def record_mean(self, key: str, value: float | None, exclude: Exclude = None) -> None:
        """Add a value to a mean in the next row; None is ignored."""
        if value is None:
            return
        before, count = self.name_to_value[key], self.name_to_count[key]
        self.name_to_value[key] = before * count / (count + 1) + value / (count + 1)
        self.name_to_count[key] = count + 1
        self.name_to_excluded[key] = _names(exclude)
        self._kept.discard(key)

    def dump(self, step: int = 0) -> None:
        """Write the row, at timestep `step`, and start a new one."""
        if self.level == DISABLED:
            return
        row = {key: self.name_to_value[key] for key in self.name_to_value.keys() - self._kept}
        for writer in self.output_formats:
            if isinstance(writer, KVWriter):
                writer.write(dict(row), dict(self.name_to_excluded), step)
        for key in row:
            del self.name_to_value[key]
        self.name_to_count.clear()
        self.name_to_excluded.clear()


def _names(exclude: Exclude) -> tuple[str, ...]:
    if exclude is None:
        return ()
    return (exclude,) if isinstance(exclude, str) else tuple(exclude)


def configure(folder: str | None = None, format_strings: Sequence[str] | None = None) -> Logger:
    """Make a logger for a model's `set_logger`.

    Args:
        folder: the folder of the files. None means the environment variable SB3_LOGDIR, or else a
            new temporary folder.
        format_strings: some of `stdout`, `log`, `json`, `csv` and `tensorboard`. None means the
            environment variable SB3_LOG_FORMAT (comma-separated), or else `stdout,log,csv`.

    Raises:
        ValueError: for an unknown format.
    """
    if folder is None:
        folder = os.getenv("SB3_LOGDIR")
    if folder is None:
        now = datetime.datetime.now().strftime("SB3-%Y-%m-%d-%H-%M-%S-%f")
        folder = os.path.join(tempfile.gettempdir(), now)
    os.makedirs(folder, exist_ok=True)
    if format_strings is None:
        format_strings = os.getenv("SB3_LOG_FORMAT", "stdout,log,csv").split(",")
    names = [name for name in format_strings if name]
    made = Logger(folder, [make_output_format(name, folder) for name in names])
    if {*names} - {"stdout"}:
        made.log(f"Logging to {folder}")
    return made
