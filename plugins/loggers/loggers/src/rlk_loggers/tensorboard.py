"""`tensorboard`: rows of metrics as events in the run's folder (`tensorboard --logdir runs`).

Written with tensorboard's own event writer (as `torch.utils.tensorboard` does), one event per row.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rlk.hookspecs import hookimpl
from rlk_loggers.needs_folder import lacks_folder

if TYPE_CHECKING:
    from rlk.planning.plan import Plan
    from rlk.running.run import Run

FLUSH_SECONDS = 10


class TensorboardLogger:
    """Writes every tag as a scalar, by timesteps, and the plan as a text."""

    def __init__(self) -> None:
        self._writer: Any = None

    @hookimpl
    def rlk_check_plan(self, plan: Plan) -> str | None:
        return lacks_folder(plan, "tensorboard")

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        """Begin a file of events.

        Of a resumed run, tensorboard is told to hide what an earlier file has beyond the
        checkpoint.
        """
        if self._writer is not None or run.out is None or run.communicator.rank != 0:
            return
        from tensorboard.compat.proto.event_pb2 import Event, SessionLog
        from tensorboard.plugins.text.summary_v2 import text_pb
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        run.out.mkdir(parents=True, exist_ok=True)
        self._writer = EventFileWriter(str(run.out), flush_secs=FLUSH_SECONDS)
        run.on_close.append(self._writer.close)
        if run.timesteps > 0:
            log = SessionLog(status=SessionLog.START)
            self._writer.add_event(
                Event(wall_time=time.time(), step=run.timesteps + 1, session_log=log)
            )
        # Four spaces make it a block of code for tensorboard's Markdown.
        plan = "\n".join(f"    {line}" for line in str(run.plan).splitlines())
        summary = text_pb("plan/text_summary", plan)
        self._writer.add_event(Event(wall_time=time.time(), step=run.timesteps, summary=summary))

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if self._writer is None:
            return
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary

        values = [Summary.Value(tag=tag, simple_value=float(value)) for tag, value in row.items()]
        self._writer.add_event(
            Event(wall_time=time.time(), step=run.timesteps, summary=Summary(value=values))
        )
