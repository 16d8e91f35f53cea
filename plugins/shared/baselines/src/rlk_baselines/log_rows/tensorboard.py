"""Writes a model's TensorBoard events, in a separate folder for every run."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rlk.records import Array
from rlk_baselines.argument_types import Folder
from rlk_loggers.tensorboard import EventFile


class ScalarWriter:
    """Writes numbers by timestep; callbacks find it in `locals["writer"]`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._file = EventFile(folder)

    def add_scalar(self, tag: str, value: float, step: int, *, waits: bool = False) -> None:
        """Write one number; if `waits`, together with the next event."""
        summary = _scalars({tag: value})
        if waits:
            self._file.add(step=int(step), summary=summary)
        else:
            self.add_summary(summary, step)

    def add_scalars(self, values: Mapping[str, float], step: int) -> None:
        """Write several numbers, by tag."""
        self.add_summary(_scalars(values), step)

    def add_text(self, tag: str, text_string: str, global_step: int = 0) -> None:
        """Write a text, which may have markdown."""
        from tensorboard.plugins.text.summary_v2 import text_pb

        self.add_summary(text_pb(tag, text_string), global_step)

    def add_histogram(self, tag: str, values: Array, step: int) -> None:
        """Write a histogram of numbers."""
        from tensorboard.plugins.histogram.summary_v2 import histogram_pb

        self.add_summary(histogram_pb(tag, values), step)

    def add_summary(self, summary: Any, step: int) -> None:
        """Write a TensorBoard summary (`tensorboard.compat.proto.summary_pb2.Summary`)."""
        self._file.write(step=int(step), summary=summary)

    def flush(self) -> None:
        """Write waiting events."""
        self._file.flush()


def _scalars(values: Mapping[str, float]) -> Any:
    """A TensorBoard summary of numbers, by tag."""
    from tensorboard.compat.proto.summary_pb2 import Summary

    found = [Summary.Value(tag=tag, simple_value=float(value)) for tag, value in values.items()]
    return Summary(value=found)


def folder_of_run(log: Folder, name: str, *, is_new: bool) -> Path:
    """The folder of a run: `NAME_1`, `NAME_2`, … in the folder of the logs.

    Args:
        log: `tensorboard_log`.
        name: `tb_log_name`.
        is_new: whether to start a new run, or continue the latest one of this name.
    """
    latest = latest_run(log, name)
    return Path(log) / f"{name}_{latest + 1 if is_new else max(latest, 1)}"


def latest_run(log: Folder, name: str) -> int:
    """The number of the latest run with a name in the folder of the logs, or 0."""
    numbered = re.compile(re.escape(name) + r"_(\d+)")
    there = Path(log).iterdir() if Path(log).is_dir() else ()
    found = [numbered.fullmatch(path.name) for path in there]
    return max((int(match[1]) for match in found if match), default=0)
