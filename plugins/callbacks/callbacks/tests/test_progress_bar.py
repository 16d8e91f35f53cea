"""The progress bar, on a console of the test's own."""

from __future__ import annotations

import contextlib
import io
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import rich
from rich.console import Console
from rich.progress import Progress

import rlk
from rlk.hookspecs import hookimpl
from rlk.one_process import OneProcess
from rlk_callbacks import bar_columns
from rlk_callbacks import progress_bar as module
from rlk_testing.stand_ins import stand_in_kernel
from rlk_testing.tools.screen import Screen

WALK = "rlk_testing.environments:Walk"


def drawn(
    monkeypatch: pytest.MonkeyPatch,
    *plugins: Any,
    terminal: bool = True,
    verbose: int = 1,
    calls: tuple[int, ...] = (40,),
) -> str:
    """What a run of 40 timesteps draws on a console, in one call of `learn` or several."""
    file = Screen() if terminal else io.StringIO()
    console = Console(file=file, width=100, color_system=None)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "verbose": verbose}
    kernel = stand_in_kernel(discover=True)
    with rlk.make(
        "stand-in", kernel=kernel, plugins=["progress-bar", "no:table", *plugins], **keywords
    ) as agent:
        for timesteps in calls:
            agent.learn(timesteps, reset_num_timesteps=False)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_it_shows_how_far_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Returns:
        mean = 0.0

        @hookimpl
        def rlk_training_end(self, run: Any) -> None:
            self.mean = np.mean([return_ for return_, _ in run.metrics.recent_episodes])

    returns = Returns()
    text = drawn(monkeypatch, returns)
    first, last = text.split("\r")[0], text.split("\r")[-1]
    assert "stand-in" in first
    assert " 0/40" in first
    assert " 40/40" in last
    assert f"return {returns.mean:.6g} " in last


def test_nothing_is_drawn_on_a_pipe_also_if_colours_are_forced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As services that run tests force them in their logs."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert drawn(monkeypatch, terminal=False) == ""


def test_a_further_call_begins_where_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """From 0, its first speed would be that of all timesteps before."""
    text = drawn(monkeypatch, calls=(20, 20))
    assert " 0/20" in text and " 20/40" in text and " 0/40" not in text


def test_on_a_terminal_that_becomes_narrow_no_number_is_cut(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Narrows:
        @hookimpl
        def rlk_rollout_end(self) -> None:
            rich.get_console().width = 12

    last = drawn(monkeypatch, Narrows(), calls=(200,)).split("\r")[-1]
    assert "200/200" in last and "stand-in" not in last


def test_of_one_for_each_call_nothing_is_left_to_close(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=Screen(), width=100)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    plugins = ["no:progress-bar", "no:table"]
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "verbose": 1}
    kernel = stand_in_kernel(discover=True)
    with rlk.make("stand-in", kernel=kernel, plugins=plugins, **keywords) as agent:
        before = len(agent.run.on_close)
        for _ in range(2):
            agent.learn(20, callback=module.ProgressBar())
        assert len(agent.run.on_close) == before
    assert " 20/20" in console.file.getvalue()  # type: ignore[attr-defined]


def test_the_cursor_comes_back_where_the_last_drawing_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(bar: Any, run: Any) -> None:
        if run.timesteps >= 20:
            raise RuntimeError("told to fail")

    monkeypatch.setattr(module.ProgressBar, "_draw", fails)
    console = Console(file=Screen(), width=100)
    monkeypatch.setattr(module, "SECONDS_BETWEEN", 1e9)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "verbose": 1}
    kernel = stand_in_kernel(discover=True)
    with (
        rlk.make("stand-in", kernel=kernel, plugins=["progress-bar"], **keywords) as agent,
        pytest.raises(RuntimeError, match="told to fail"),
    ):
        agent.learn(20)
    show_cursor = "\x1b[?25h"
    assert show_cursor in console.file.getvalue()  # type: ignore[attr-defined]


def test_a_pipe_a_quiet_run_and_other_ranks_get_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class SecondRank(OneProcess):
        rank = 1

    class Ranks:
        @hookimpl
        def rlk_make_communicator(self) -> Any:
            return SecondRank()

    assert drawn(monkeypatch, terminal=False) == ""
    assert drawn(monkeypatch, verbose=0) == ""
    assert drawn(monkeypatch, Ranks()) == ""


def test_in_a_notebook_it_is_drawn_in_a_widget(monkeypatch: pytest.MonkeyPatch) -> None:
    class Widget(contextlib.nullcontext[None]):
        """Of ipywidgets, of which rich uses this alone."""

        def clear_output(self, wait: bool) -> None:
            drawn.clear()

    widgets: list[Any] = []
    drawn: list[str] = []
    notebook = {
        "IPython": SimpleNamespace(),
        "IPython.display": SimpleNamespace(display=widgets.append),
        "ipywidgets": SimpleNamespace(Output=Widget),
    }
    for name, content in notebook.items():
        monkeypatch.setitem(sys.modules, name, content)
    monkeypatch.setattr("rich.jupyter.display", lambda segments, text: drawn.append(text))
    console = Console(force_jupyter=True, force_terminal=False, width=100)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    keywords = {"env": WALK, "serializer": "zip", "verbose": 1}
    plugins = ["progress-bar", "no:table", "no:summary"]
    kernel = stand_in_kernel(discover=True)
    with rlk.make("stand-in", kernel=kernel, plugins=plugins, **keywords) as agent:
        agent.learn(40)
    assert len(widgets) == 1 and " 40/40" in "".join(drawn)


def test_it_is_not_drawn_at_every_border(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    assert drawn(monkeypatch).count("/40") < 6  # at the start and at the end

    class Slow:
        @hookimpl
        def rlk_rollout_start(self) -> None:
            now[0] += 2 * module.SECONDS_BETWEEN

    assert drawn(monkeypatch, Slow()).count("/40") > 10


def test_the_cursor_comes_back_when_training_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Fails:
        @hookimpl
        def rlk_rollout_end(self) -> None:
            raise RuntimeError("told to fail")

    console = Console(file=Screen(), width=100)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "verbose": 1}
    kernel = stand_in_kernel(discover=True)
    with (
        rlk.make("stand-in", kernel=kernel, plugins=["progress-bar", Fails()], **keywords) as agent,
        pytest.raises(RuntimeError, match="told to fail"),
    ):
        agent.learn(40)
    show_cursor = "\x1b[?25h"
    assert console.file.getvalue().rstrip().endswith(show_cursor)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_it_is_one_line_on_a_terminal_of_any_width(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    console = Console(file=Screen(), width=width, color_system=None)
    shown = Progress(*bar_columns.columns(width), console=console, expand=True)
    task = shown.add_task("ppo2", total=10_000_000, completed=9_999_999, returned="return -1234.5")
    monkeypatch.setattr(type(shown.tasks[task]), "speed", 123_456.0)
    monkeypatch.setattr(type(shown.tasks[task]), "time_remaining", 36_000.0)
    console.print(shown)
    (line,) = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(line) <= width
    assert "9,999,999/10,000,000" in line and line.rstrip().endswith("10:00:00 left")
    assert ("return -1234.5" in line) == (width >= 60)
    assert ("123,456 steps/s" in line) == (width >= 80)


@pytest.mark.parametrize(("seconds", "text"), [(5.9, "0:05 left"), (125.0, "2:05 left")])
def test_less_than_an_hour_is_minutes_and_seconds(
    monkeypatch: pytest.MonkeyPatch, seconds: float, text: str
) -> None:
    shown = Progress(bar_columns._Left(), console=Console(file=io.StringIO()))
    shown.add_task("ppo2", total=8_000)
    (task,) = shown.tasks
    monkeypatch.setattr(type(task), "time_remaining", seconds)
    assert bar_columns._Left().render(task).plain == text


def test_a_collection_that_goes_beyond_the_total_is_all_of_it() -> None:
    shown = Progress(bar_columns._Count(), console=Console(file=io.StringIO()))
    task = shown.add_task("ppo2", total=8_000, completed=8_192, returned="")
    assert bar_columns._Count().render(shown.tasks[task]).plain == "8,192/8,192"
