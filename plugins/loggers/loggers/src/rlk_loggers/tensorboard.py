"""`tensorboard`: writes metrics as events to the run's folder (`tensorboard --logdir runs`).

The events, their framing and the names of files are those of TensorBoard, one event per row. They
are written here instead of by TensorBoard's writer, whose thread ends for good when a write fails.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import re
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from rlk.command_line import command_line
from rlk.growing_file import GrowingFile
from rlk.hookspecs import hookimpl
from rlk.program_warnings import warn_program
from rlk.saving.run_folder import as_typed
from rlk.terminal import print_on
from rlk_loggers.needs_folder import lacks_folder

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run


#: How the names of event files begin; the time of their beginning follows, in seconds since 1970.
PREFIX = "events.out.tfevents."
#: The last part of the name, by which files of one process that begin in the same second differ.
_NUMBERS = itertools.count()
_BEGINNING = re.compile(rf"{re.escape(PREFIX)}(?P<seconds>[0-9]{{10}})\b")


class EventFile:
    """A file of events, made with the first one; what fails is tried again some seconds later."""

    def __init__(self, folder: Path) -> None:
        from tensorboard.compat.proto.event_pb2 import Event

        begun = f"{PREFIX}{_later_than_all(folder):010d}"
        name = f"{begun}.{socket.gethostname()}.{os.getpid()}.{next(_NUMBERS)}"
        self._file = GrowingFile(folder / name)
        self._waiting: list[bytes] = []
        self._head = _record(Event(wall_time=time.time(), file_version="brain.Event:2"))
        _tell_weights_and_biases(folder)

    @property
    def has_unwritten(self) -> bool:
        """Whether events wait."""
        return bool(self._waiting)

    def write(self, **event: Any) -> None:
        """Write an event with the current time; after a failed attempt it may wait."""
        self.add(**event)
        if self._file.is_due():
            self.flush()

    def add(self, **event: Any) -> None:
        """Add an event, which waits for the next `flush`."""
        from tensorboard.compat.proto.event_pb2 import Event

        self._waiting.append(_record(Event(wall_time=time.time(), **event)))

    def flush(self) -> None:
        """Write the waiting events."""
        if not self._waiting:
            return
        with self._file.attempt():
            self._file.write(b"".join(self._waiting), self._head)
        self._waiting = []


def _tell_weights_and_biases(folder: Path) -> None:
    """Name the folder to W&B's run if it copies events (`wandb.init(sync_tensorboard=True)`).

    It replaces TensorBoard's writers to learn of folders, and this file is written by none of them.
    A module of that name may be another one: a folder `wandb`, which W&B makes, is imported too.
    """
    wandb = sys.modules.get("wandb")
    copied = getattr(wandb, "patched", {}).get("tensorboard")
    run = getattr(wandb, "run", None)
    if not copied or run is None:
        return
    tell = getattr(run, "_tensorboard_callback", None)  # not public: a release may rename it
    if tell is None:
        warn_program(
            f"Weights & Biases does not copy the events in {folder}: the installed release of "
            "wandb cannot be told of a folder. Send it the rows by a logger of your own, as the "
            "README of rlk-loggers shows."
        )
        return
    tell(os.path.abspath(folder))


def _later_than_all(folder: Path) -> int:
    """The second of now, but at least one after that of each event file in the folder.

    TensorBoard reads files in the order of their names, and only what it reads later can hide the
    events after a checkpoint: also where the clock was set back.
    """
    found = (_BEGINNING.match(path.name) for path in folder.glob(f"{PREFIX}*"))
    return max([int(time.time()), *(int(match["seconds"]) + 1 for match in found if match)])


def _record(event: Any) -> bytes:
    """An event with its length and its checksums."""
    from tensorboard.summary.writer.record_writer import RecordWriter

    framed = io.BytesIO()
    RecordWriter(framed).write(event.SerializeToString())
    return framed.getvalue()


class TensorboardLogger:
    """Writes every tag as a scalar, over timesteps, and the plan as a text.

    Every run has its own file, also where one object is passed to several.
    """

    def __init__(self) -> None:
        self._files: WeakKeyDictionary[Run, EventFile] = WeakKeyDictionary()

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "tensorboard")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Begin an event file; a run that prints shows the command to view it.

        For a resumed run, an event tells TensorBoard to hide the earlier events after the
        checkpoint.
        """
        if run in self._files or run.out is None or run.communicator.rank != 0:
            return
        from tensorboard.compat.proto.event_pb2 import SessionLog
        from tensorboard.plugins.text.summary_v2 import text_pb

        # At once: what cannot be written yet waits in it.
        self._files[run] = file = EventFile(run.out)
        if run.timesteps > 0:
            log = SessionLog(status=SessionLog.START)
            file.write(step=run.timesteps + 1, session_log=log)
        # Four spaces make it a code block in TensorBoard's Markdown.
        plan = "\n".join(f"    {line}" for line in str(run.plan).splitlines())
        file.write(step=run.timesteps, summary=text_pb("plan/text_summary", plan))
        if run.plan.verbose:
            command = ["tensorboard", "--logdir", str(as_typed(run))]
            print_on(sys.stdout, f"  to see it: {command_line(command)}")

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if run not in self._files:
            return
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=tag, simple_value=float(value)) for tag, value in row.items()]
        self._files[run].write(step=run.timesteps, summary=Summary(value=values))

    def has_unwritten(self, run: Run) -> bool:
        """Whether events wait, as after a failed write (`rlk.abilities.WritesLater`)."""
        return run in self._files and self._files[run].has_unwritten

    @hookimpl
    def rlk_save(self, run: Run) -> None:
        """Write the events that wait, because they are not written again after this checkpoint."""
        if run in self._files:
            with contextlib.suppress(OSError):  # the end tries again, and raises it
                self._files[run].flush()

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        """Write the events that could not be written before."""
        if run in self._files:
            self._files[run].flush()
