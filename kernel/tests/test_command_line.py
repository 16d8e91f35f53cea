"""Printed commands can be pasted into the shells of this system."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import pytest

from rlk.command_line import can_be_pasted, command_line, path_word
from rlk.restoring.restored_environment import typed


def test_a_shell_of_posix_splits_a_line_into_its_words(monkeypatch):
    monkeypatch.setattr("sys.platform", "linux")
    words = ["rlk", "run", "--set", "layers=[1, 2]", "it's", "", "a;b", r"back\slash"]
    assert shlex.split(command_line(words)) == words
    assert can_be_pasted("$HOME")
    assert not can_be_pasted("\x1b[2J")


@pytest.mark.parametrize(
    ("word", "printed"),
    [
        (r"runs\dqn-CartPole-v1-1", r"runs\dqn-CartPole-v1-1"),
        (r"C:\Users\Jürgen\runs", r"C:\Users\Jürgen\runs"),
        ("gamma=0.98", "gamma=0.98"),
        (r"C:\My runs", r'"C:\My runs"'),
        ("C:\\My runs\\", r'"C:\My runs\\"'),
        ("", '""'),
        ('say "so"', r'"say \"so\""'),
        ("a&b", '"a&b"'),
        ("50%", '"50%"'),
        ("layers=[1,2]", '"layers=[1,2]"'),  # PowerShell makes two words of it
        ("it's", '"it\'s"'),
    ],
)
def test_on_windows_words_stand_between_double_quotes_if_at_all(monkeypatch, word, printed):
    monkeypatch.setattr("sys.platform", "win32")
    assert command_line(["rlk", word]) == f"rlk {printed}"


@pytest.mark.parametrize("word", ['"&calc&"', "$(calc)", "`n", "%PATH%", "a\u201d; calc", "\n"])
def test_what_a_shell_of_windows_evaluates_between_quotes_is_not_printed(monkeypatch, word):
    monkeypatch.setattr("sys.platform", "win32")
    assert not can_be_pasted(word)
    assert typed("--env", word) == "--env …"
    assert typed("--env", "a; calc & b|c <d >e ^f") == '--env "a; calc & b|c <d >e ^f"'


def test_a_path_that_begins_with_a_dash_is_no_option() -> None:
    assert path_word("-x") == os.path.join(".", "-x")
    assert path_word(Path("runs", "-x")) == os.path.join("runs", "-x")
