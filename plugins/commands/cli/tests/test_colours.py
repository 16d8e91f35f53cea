"""Colours of what a command prints on a terminal, and where there are none."""

from __future__ import annotations

import sys

import pytest

from rlk_testing.tools.command_line import ended
from rlk_testing.tools.screen import Screen


@pytest.mark.parametrize(
    "command", [["plugins", "list"], ["plugins", "show", "dqn"], ["evaluate", "no"]]
)
@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [
        ({"TERM": "xterm"}, True),
        ({"TERM": "xterm", "NO_COLOR": ""}, True),
        ({"TERM": "xterm", "NO_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_commands_and_errors_have_colours_unless_told_otherwise(
    command: list[str],
    environment: dict[str, str],
    is_coloured: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    screen = Screen()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "stderr", screen)
    ended(*command)
    assert screen.getvalue()
    assert ("\x1b[" in screen.getvalue()) == is_coloured
