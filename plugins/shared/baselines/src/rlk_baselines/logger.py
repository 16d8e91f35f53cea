"""Key-value logging by the names of Stable Baselines: `logkv`, `dumpkvs`, `configure` and so on.

Models write their rows of metrics here. Until `configure` is called, rows are only printed.
"""

from __future__ import annotations

import datetime
import os
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rlk_baselines.common.misc_util import mpi_rank_or_zero
from rlk_baselines.log_rows.log_formats import (
    CSVOutputFormat,
    HumanOutputFormat,
    JSONOutputFormat,
    KVWriter,
    SeqWriter,
    TensorBoardOutputFormat,
    make_output_format,
    read_csv,
    read_json,
    valid_float_value,
)

__all__ = [
    "CSVOutputFormat",
    "HumanOutputFormat",
    "JSONOutputFormat",
    "KVWriter",
    "Logger",
    "SeqWriter",
    "TensorBoardOutputFormat",
    "configure",
    "debug",
    "dump",
    "dump_tabular",
    "dumpkvs",
    "error",
    "get_dir",
    "get_level",
    "getkvs",
    "info",
    "is_configured",
    "log",
    "logkv",
    "logkv_mean",
    "logkvs",
    "make_output_format",
    "read_csv",
    "read_json",
    "record",
    "record_mean",
    "record_tabular",
    "reset",
    "set_level",
    "valid_float_value",
    "warn",
]

DEBUG, INFO, WARN, ERROR, DISABLED = 10, 20, 30, 40, 50


class Levels:
    """Writes text by its level, and knows the formats of a logger.

    Args:
        folder: the folder of the files, or None.
        output_formats: the formats, each with its file.
    """

    def __init__(self, folder: str | None, output_formats: Sequence[Any]) -> None:
        self.level = INFO
        self.dir = folder
        self.output_formats = list(output_formats)

    def log(self, *args: Any, level: int = INFO) -> None:
        """Write the arguments as text, separated by spaces, unless `level` is too low."""
        if self.level <= level:
            for writer in self.output_formats:
                if isinstance(writer, SeqWriter):
                    writer.writeseq([str(word) for word in args])

    def debug(self, *args: Any) -> None:
        """`log` at the level DEBUG."""
        self.log(*args, level=DEBUG)

    def info(self, *args: Any) -> None:
        """`log` at the level INFO."""
        self.log(*args, level=INFO)

    def warn(self, *args: Any) -> None:
        """`log` at the level WARN."""
        self.log(*args, level=WARN)

    def error(self, *args: Any) -> None:
        """`log` at the level ERROR."""
        self.log(*args, level=ERROR)

    def set_level(self, level: int) -> None:
        """Set the lowest level that `log` writes; DISABLED stops rows, too."""
        self.level = level

    def get_dir(self) -> str | None:
        """The folder of the files, or None."""
        return self.dir

    def close(self) -> None:
        """Close the files."""
        for writer in self.output_formats:
            writer.close()


class Logger(Levels):
    """Collects values by key, and writes them as a row.

    Args:
        folder: the folder of the files, or None.
        output_formats: the formats, each with its file.

    Attributes:
        CURRENT: the logger that the functions of this module use.
        DEFAULT: the logger before `configure` is called, which only prints.
    """

    DEFAULT: Logger
    CURRENT: Logger

    def __init__(self, folder: str | None, output_formats: Sequence[Any]) -> None:
        self.name2val: dict[str, Any] = defaultdict(float)
        self.name2cnt: dict[str, int] = defaultdict(int)
        super().__init__(folder, output_formats)

    def logkv(self, key: str, val: Any) -> None:
        """Set a value of the next row."""
        self.name2val[key] = val

    def logkv_mean(self, key: str, val: float | None) -> None:
        """Add a value to a mean in the next row; None clears it."""
        if val is None:
            self.name2val[key] = None
            return
        before, count = self.name2val[key], self.name2cnt[key]
        self.name2val[key] = before * count / (count + 1) + val / (count + 1)
        self.name2cnt[key] = count + 1

    def dumpkvs(self, *, to_stdout: bool = True) -> None:
        """Write the row, and start a new one; `to_stdout` tells whether to print it, too."""
        if self.level == DISABLED:
            return
        for writer in self.output_formats:
            prints = isinstance(writer, HumanOutputFormat) and writer.is_stdout
            if isinstance(writer, KVWriter) and (to_stdout or not prints):
                writer.writekvs(dict(self.name2val))
        self.name2val.clear()
        self.name2cnt.clear()


Logger.DEFAULT = Logger.CURRENT = Logger(None, [HumanOutputFormat(sys.stdout)])


def configure(folder: str | None = None, format_strs: Sequence[str] | None = None) -> None:
    """Write rows to files from now on.

    Under mpirun, the names of the files of rank R end in `-rank00R`, except for those of rank 0.

    Args:
        folder: the folder of the files. None means the environment variable OPENAI_LOGDIR, or else
            a new temporary folder.
        format_strs: some of `stdout`, `log`, `json`, `csv` and `tensorboard`. None means the
            environment variable OPENAI_LOG_FORMAT (comma-separated), or else `stdout,log,csv`; for
            other ranks than 0, OPENAI_LOG_FORMAT_MPI, or else `log`.

    Raises:
        ValueError: for an unknown format.
    """
    if folder is None:
        folder = os.getenv("OPENAI_LOGDIR")
    if folder is None:
        now = datetime.datetime.now().strftime("openai-%Y-%m-%d-%H-%M-%S-%f")
        folder = os.path.join(tempfile.gettempdir(), now)
    os.makedirs(folder, exist_ok=True)
    rank = mpi_rank_or_zero()
    if format_strs is None:
        usual = (
            ("OPENAI_LOG_FORMAT_MPI", "log") if rank else ("OPENAI_LOG_FORMAT", "stdout,log,csv")
        )
        format_strs = os.getenv(*usual).split(",")
    suffix = f"-rank{rank:03}" if rank else ""
    formats = [make_output_format(one, folder, suffix) for one in filter(None, format_strs)]
    reset()
    Logger.CURRENT = Logger(folder, formats)
    log(f"Logging to {folder}")


def is_configured() -> bool:
    """Whether `configure` was called, and `reset` not since."""
    return Logger.CURRENT is not Logger.DEFAULT


def reset() -> None:
    """Close the files that `configure` opened, and only print again."""
    if is_configured():
        Logger.CURRENT.close()
        Logger.CURRENT = Logger.DEFAULT


def logkv(key: str, val: Any) -> None:
    """Set a value of the next row."""
    Logger.CURRENT.logkv(key, val)


def logkv_mean(key: str, val: float | None) -> None:
    """Add a value to a mean in the next row; None clears it."""
    Logger.CURRENT.logkv_mean(key, val)


def logkvs(key_values: Mapping[str, Any]) -> None:
    """Set several values of the next row."""
    for key, value in key_values.items():
        logkv(key, value)


def dumpkvs(*, to_stdout: bool = True) -> None:
    """Write the row, and start a new one; `to_stdout` tells whether to print it, too."""
    Logger.CURRENT.dumpkvs(to_stdout=to_stdout)


def getkvs() -> dict[str, Any]:
    """The values of the next row so far."""
    return Logger.CURRENT.name2val


def log(*args: Any, level: int = INFO) -> None:
    """Write the arguments as text, separated by spaces, unless `level` is too low."""
    Logger.CURRENT.log(*args, level=level)


def debug(*args: Any) -> None:
    """`log` at the level DEBUG."""
    log(*args, level=DEBUG)


def info(*args: Any) -> None:
    """`log` at the level INFO."""
    log(*args, level=INFO)


def warn(*args: Any) -> None:
    """`log` at the level WARN."""
    log(*args, level=WARN)


def error(*args: Any) -> None:
    """`log` at the level ERROR."""
    log(*args, level=ERROR)


def set_level(level: int) -> None:
    """Set the lowest level that `log` writes; DISABLED stops rows, too."""
    Logger.CURRENT.set_level(level)


def get_level() -> int:
    """The lowest level that `log` writes."""
    return Logger.CURRENT.level


def get_dir() -> str | None:
    """The folder of the files, or None."""
    return Logger.CURRENT.get_dir()


def __getattr__(name: str) -> Any:
    """The attributes of the current `Logger`, which is what callbacks have in Stable Baselines."""
    if name in ("dir", "level", "name2cnt", "name2val", "output_formats"):
        return getattr(Logger.CURRENT, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


record_tabular = logkv
dump_tabular = dumpkvs


def record(key: str, value: Any, exclude: Any = None) -> None:
    """`logkv` by its name in Stable-Baselines3; `exclude` has no effect."""
    logkv(key, value)


def record_mean(key: str, value: float | None, exclude: Any = None) -> None:
    """`logkv_mean` by its name in Stable-Baselines3; `exclude` has no effect."""
    logkv_mean(key, value)


def dump(step: int = 0) -> None:
    """`dumpkvs` by its name in Stable-Baselines3; `step` has no effect."""
    dumpkvs()
