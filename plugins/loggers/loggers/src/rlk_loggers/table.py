"""`table`: prints rows of metrics for the user.

On a terminal and in a notebook, it prints a small table now and then, through `rich.get_console()`,
so that a progress bar on the same terminal stays below it. On a pipe, it prints one plain line for
every row.
With `verbose=0` nothing is printed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import rich
from rich.cells import cell_len
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from rlk.hookspecs import hookimpl
from rlk.terminal import is_terminal, print_on
from rlk_loggers.config import TableConfig
from rlk_loggers.number_format import compact, readable

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from rlk.running.run import Run

#: The order of the groups; groups with other names follow.
GROUPS = ("rollout", "eval", "train", "time")
#: Tags shown elsewhere: in the title, or at the beginning of the line.
LEFT_OUT = ("time/total_timesteps",)
#: Characters between columns, and those of the frame.
GAP = 3
BORDER = 4


class TableLogger:
    """Prints rows.

    If a table would follow the previous one too soon, it is not printed; its values go into the
    next one, so that no evaluation is lost. The last table is always printed.
    """

    def __init__(self, config: TableConfig | None = None) -> None:
        self._config = config or TableConfig()
        self._console: Console = rich.get_console()
        self._waiting: dict[str, float] = {}
        self._printed = float("-inf")
        self._timesteps = self._total = 0

    @hookimpl
    def rlk_training_start(self, run: Run) -> None:
        if self._print_waiting not in run.on_close:
            run.on_close.append(self._print_waiting)

    @hookimpl
    def rlk_training_end(self) -> None:
        self._print_waiting()

    @hookimpl
    def rlk_write_row(self, run: Run, row: Mapping[str, float]) -> None:
        if run.plan.verbose == 0 or run.communicator.rank != 0:
            return
        # Whether rich takes the output for a terminal depends on FORCE_COLOR, too.
        if not (is_terminal(self._console.file) or self._console.is_jupyter):
            print_on(sys.stdout, line(run.timesteps, row))
            return
        self._waiting |= row
        self._timesteps, self._total = run.timesteps, run.clock.total_timesteps
        now = time.monotonic()
        if now - self._printed >= self._config.min_seconds or run.timesteps >= self._total:
            self._printed = now
            self._print()

    def _print_waiting(self) -> None:
        if self._waiting:
            self._print()

    def _print(self) -> None:
        self._console.print(table(self._timesteps, self._total, self._waiting, self._console))
        self._waiting = {}


def line(timesteps: int, row: Mapping[str, float]) -> str:
    """A row as one line: the last part of each tag, or the whole tag if two are alike.

    >>> line(8, {"rollout/ep_rew_mean": 21.5, "a/loss": 1.0, "b/loss": 2.0})
    'timesteps=8 ep_rew_mean=21.5 a/loss=1 b/loss=2'
    """
    tails = [tag.rpartition("/")[2] for tag in row]
    named = {
        tag: tail if tails.count(tail) == 1 else tag for tag, tail in zip(row, tails, strict=True)
    }
    figures = [
        f"{named[tag]}={compact(value)}" for tag, value in row.items() if tag not in LEFT_OUT
    ]
    return " ".join([f"timesteps={timesteps}", *figures])


def table(timesteps: int, total: int, row: Mapping[str, float], console: Console) -> RenderableType:
    """A row as a table: a block for each group of tags, in as many columns as fit."""
    groups: dict[str, dict[str, float]] = {}
    for tag, value in row.items():
        if tag not in LEFT_OUT:
            group, _, name = tag.rpartition("/")
            groups.setdefault(group, {})[name] = value
    order = sorted(
        groups, key=lambda group: GROUPS.index(group) if group in GROUPS else len(GROUPS)
    )
    columns = _columns({group: groups[group] for group in order}, console)
    grid = Table.grid(padding=(0, GAP, 0, 0), pad_edge=False)
    grid.add_row(*columns)
    # The last collection of a run may exceed its total.
    of_all = f" of {total:,}" if total >= timesteps else ""
    done = f"{timesteps:,}{of_all} timesteps"
    return Panel(grid, title=done, title_align="left", border_style="dim", expand=False)


def _block(group: str, figures: Mapping[str, float], width: int) -> Table:
    block = Table.grid(padding=(0, 1, 0, 0), pad_edge=False)
    # As a Text, a name is shown as it is: rich reads brackets in a str as markup.
    block.title = Text(group, style="bold cyan", overflow="ellipsis", no_wrap=True)
    block.title_justify, block.width = "left", width
    block.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
    block.add_column(justify="right", no_wrap=True)
    for name, value in figures.items():
        block.add_row(Text(name), readable(value))
    return block


def _columns(groups: Mapping[str, Mapping[str, float]], console: Console) -> list[Table]:
    """The groups' blocks in as many columns as fit, each block in the shortest column so far."""
    columns: list[list[str]] = []
    for number in range(len(groups), 0, -1):
        columns = [[] for _ in range(number)]
        heights = [0] * number
        for group, figures in groups.items():
            shortest = heights.index(min(heights))
            columns[shortest].append(group)
            heights[shortest] += 1 + len(figures)
        if sum(_width(groups, column) + GAP for column in columns) - GAP <= console.width - BORDER:
            break
    stacked = []
    for column in columns:
        stack = Table.grid()
        width = min(_width(groups, column), console.width - BORDER)
        for group in column:
            stack.add_row(_block(group, groups[group], width))
        stacked.append(stack)
    return stacked


def _width(groups: Mapping[str, Mapping[str, float]], column: Iterable[str]) -> int:
    """The width of a column of blocks, in characters."""
    return max(
        max(
            cell_len(group),
            max(map(cell_len, groups[group]))
            + 1
            + max(len(readable(value)) for value in groups[group].values()),
        )
        for group in column
    )
