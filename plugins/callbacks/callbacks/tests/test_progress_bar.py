"""The progress bar, on a console of the test's own."""

from __future__ import annotations

import io
from typing import Any

import pytest
import rich
from rich.console import Console

import rlk
from rlk.hookspecs import hookimpl
from rlk_callbacks import progress_bar as module
from rlk_testing import stand_in_kernel

WALK = "rlk_testing.environments:Walk"


def drawn(
    monkeypatch: pytest.MonkeyPatch, *plugins: Any, terminal: bool = True, verbose: int = 1
) -> str:
    """What a run of 40 timesteps draws on a console."""
    console = Console(file=io.StringIO(), force_terminal=terminal, width=100, color_system=None)
    monkeypatch.setattr(rich, "get_console", lambda: console)
    keywords = {"env": WALK, "seed": 3, "serializer": "zip", "verbose": verbose}
    kernel = stand_in_kernel(discover=True)
    with rlk.make(
        "stand-in", kernel=kernel, plugins=["progress-bar", "no:table", *plugins], **keywords
    ) as agent:
        agent.learn(40)
    return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]


def test_it_shows_how_far_the_run_is(monkeypatch: pytest.MonkeyPatch) -> None:
    text = drawn(monkeypatch)
    first, last = text.split("\r")[0], text.split("\r")[-1]
    assert "stand-in" in first
    assert " 0/40" in first
    assert " 40/40" in last
    assert "return " in last


def test_a_pipe_and_a_quiet_run_get_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert drawn(monkeypatch, terminal=False) == ""
    assert drawn(monkeypatch, verbose=0) == ""


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

    console = Console(file=io.StringIO(), force_terminal=True, width=100)
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
