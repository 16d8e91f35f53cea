"""The contents of a progress bar, in as many columns as fit into one line of the terminal."""

from __future__ import annotations

from rich.progress import BarColumn, ProgressColumn, Task
from rich.table import Column
from rich.text import Text


def columns(width: int) -> list[ProgressColumn]:
    """The columns for a terminal of that width; the most important ones are always shown."""
    one_line = Column(no_wrap=True, overflow="crop")
    stretched = Column(no_wrap=True, overflow="crop", ratio=1)
    from_width: list[tuple[int, ProgressColumn]] = [
        (44, _Name(one_line)),
        (50, BarColumn(bar_width=None, table_column=stretched)),
        (0, _Count(one_line)),
        (76, _Speed(one_line)),
        (60, _Return(one_line)),
        (36, _Left(one_line)),
    ]
    return [column for least, column in from_width if width >= least]


class _Name(ProgressColumn):
    """The algorithm."""

    def render(self, task: Task) -> Text:
        return Text(task.description)


class _Count(ProgressColumn):
    """`12,288/100,000`; a run that ends within a collection shows the timesteps of all of it."""

    def render(self, task: Task) -> Text:
        done = int(task.completed)
        return Text(f"{done:,}/{max(int(task.total or 0), done):,}")


class _Return(ProgressColumn):
    """The mean return of the latest episodes."""

    def render(self, task: Task) -> Text:
        return Text(task.fields["returned"])


class _Speed(ProgressColumn):
    """Timesteps per second, over the last ten seconds."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text("" if speed is None else f"{speed:,.0f} steps/s", style="cyan")


class _Left(ProgressColumn):
    """The remaining time at that speed."""

    def render(self, task: Task) -> Text:
        left = task.time_remaining
        if left is None:
            return Text("")
        minutes, seconds = divmod(int(left), 60)
        hours, minutes = divmod(minutes, 60)
        return Text(
            f"{hours}:{minutes:02}:{seconds:02} left" if hours else f"{minutes}:{seconds:02} left"
        )
