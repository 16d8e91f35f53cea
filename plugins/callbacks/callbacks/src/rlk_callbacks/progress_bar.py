"""`progress-bar`: shows the progress of a run, on a terminal or in a notebook.

It is drawn on `rich.get_console()`, as is the `table` logger's output, which appears above it. It
is drawn at the end of iterations, not by a thread of its own, which would take time from training.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
import rich
from rich.progress import Progress, TaskID

from rlk.hookspecs import hookimpl
from rlk.terminal import is_terminal
from rlk_callbacks.bar_columns import columns
from rlk_evaluation.number_text import significant

if TYPE_CHECKING:
    from rlk.running.run import Run

#: Seconds between two drawings at least; drawing takes about a millisecond.
SECONDS_BETWEEN = 0.2


class ProgressBar:
    """Timesteps, speed, the mean return of the latest episodes, and the remaining time.

    Nothing is drawn on a pipe, with `verbose=0`, or on ranks other than 0.
    """

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._width = 0  #: of the terminal, for which the columns were chosen
        self._drawn = 0.0

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        console = rich.get_console()
        if run.plan.verbose == 0 or run.communicator.rank != 0:
            return
        # Whether rich takes the output for a terminal depends on FORCE_COLOR, too.
        if not (is_terminal(console.file) or console.is_jupyter):
            return
        self._stop()
        self._width = console.width
        self._progress = Progress(
            *columns(self._width),
            console=console,
            auto_refresh=False,
            expand=True,
            speed_estimate_period=10.0,
        )
        total = run.clock.total_timesteps
        name = run.plan.algorithm.name
        self._task = self._progress.add_task(
            name, total=total, completed=run.timesteps, returned=""
        )
        self._progress.start()
        self._draw(run)

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        if self._progress is not None and time.monotonic() - self._drawn >= SECONDS_BETWEEN:
            self._draw(run)

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        try:
            if self._progress is not None:
                self._draw(run)
        finally:
            self._stop()

    def _draw(self, run: Run) -> None:
        assert self._progress is not None
        if self._width != self._progress.console.width:  # else numbers would be cut off
            self._width = self._progress.console.width
            self._progress.columns = tuple(columns(self._width))
        recent = run.metrics.recent_episodes
        mean = np.mean([return_ for return_, _ in recent]) if recent else None
        returned = "" if mean is None else f"return {significant(float(mean))}"
        self._progress.update(self._task, completed=run.timesteps, returned=returned, refresh=True)
        self._drawn = time.monotonic()

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None
