"""`progress-bar`: how far a run is, on a terminal.

It lives on `rich.get_console()`, as the `table` logger does: what that prints appears above it. It
is drawn at the borders of iterations and by no thread of its own, which would take time from
training.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import rich
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TaskID
from rich.table import Column
from rich.text import Text

from rlk.hookspecs import hookimpl

if TYPE_CHECKING:
    from rlk.running.run import Run

#: At most this often; drawing takes about a millisecond.
SECONDS_BETWEEN = 0.2


class ProgressBar:
    """Timesteps, speed, the mean return of the latest episodes, and the time that is left.

    Nothing is drawn on a pipe, with `verbose=0`, or by other ranks than the first.
    """

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._task = TaskID(0)
        self._drawn = 0.0

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        console = rich.get_console()
        if run.plan.verbose == 0 or run.communicator.rank != 0 or not console.is_terminal:
            return
        self._stop()
        self._progress = Progress(
            *_columns(console.width),
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
        run.on_close.append(self._stop)

    @hookimpl
    def rlk_update_end(self, run: Run) -> None:
        if self._progress is not None and time.monotonic() - self._drawn >= SECONDS_BETWEEN:
            self._draw(run)

    @hookimpl
    def rlk_training_end(self, run: Run) -> None:
        if self._progress is not None:
            self._draw(run)
        self._stop()

    def _draw(self, run: Run) -> None:
        assert self._progress is not None
        recent = run.metrics.recent_episodes
        returned = f"return {np.mean([return_ for return_, _ in recent]):.1f}" if recent else ""
        self._progress.update(self._task, completed=run.timesteps, returned=returned, refresh=True)
        self._drawn = time.monotonic()

    def _stop(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


def _columns(width: int) -> list[ProgressColumn]:
    """As many columns as fit into one line of a terminal; what matters most stays longest."""
    left_out: list[type] = [kind for kind, least in LEAST_WIDTH.items() if width < least]
    kinds: list[type] = [_Name, BarColumn, _Count, _Speed, _Return, _Left]
    shown: list[ProgressColumn] = []
    for kind in kinds:
        if kind not in left_out:
            column = Column(no_wrap=True, overflow="crop", ratio=1 if kind is BarColumn else None)
            shown.append(kind(table_column=column, **_OPTIONS.get(kind, {})))
    return shown


class _Name(ProgressColumn):
    """The algorithm."""

    def render(self, task: Task) -> Text:
        return Text(task.description)


class _Count(ProgressColumn):
    """`12,288/100,000`; a run that ends within a collection has the timesteps of all of it."""

    def render(self, task: Task) -> Text:
        done = int(task.completed)
        return Text(f"{done:,}/{max(int(task.total or 0), done):,}")


class _Return(ProgressColumn):
    """The mean return of the latest episodes."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["returned"])


class _Speed(ProgressColumn):
    """Timesteps a second, over the last ten seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} steps/s", style="cyan")


class _Left(ProgressColumn):
    """The time that is left at that speed."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        if left is None:
            return Text("")
        minutes, seconds = divmod(int(left), 60)
        hours, minutes = divmod(minutes, 60)
        return Text(
            f"{hours}:{minutes:02}:{seconds:02} left" if hours else f"{minutes}:{seconds:02} left"
        )


#: Columns that a terminal has which is at least so wide; the others are on every one.
LEAST_WIDTH: dict[type, int] = {_Left: 36, _Name: 44, BarColumn: 50, _Return: 60, _Speed: 76}
_OPTIONS: dict[type, dict[str, Any]] = {BarColumn: {"bar_width": None}}
