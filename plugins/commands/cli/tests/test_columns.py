"""Two columns on terminals of any width."""

from __future__ import annotations

import pytest

from rlk_cli.columns import columns, terminal_width

TEXT = "numbers side by side, images through the Nature CNN"


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_no_line_is_longer_than_the_terminal_and_no_word_is_cut(width):
    lines = columns("  multi-input", 20, TEXT, width).splitlines()
    assert max(map(len, lines)) <= width
    assert " ".join(" ".join(lines).split()) == f"multi-input {TEXT}"


def test_what_goes_on_stays_in_its_column():
    first, second = columns("  multi-input", 20, TEXT, 60).splitlines()
    assert first == "  multi-input       numbers side by side, images through the"
    assert second == "                    Nature CNN"


def test_on_a_narrow_terminal_the_right_column_goes_below():
    lines = columns("  multi-input", 20, TEXT, 40).splitlines()
    assert lines[:2] == ["  multi-input", "      numbers side by side, images"]


def test_on_a_pipe_no_line_is_broken():
    assert columns("  multi-input", 20, TEXT, None) == f"  multi-input       {TEXT}"


def test_a_text_alone_begins_at_the_edge_of_a_narrow_terminal():
    assert columns("", 0, "one two three", 8) == "one two\nthree"


def test_a_word_that_is_longer_than_the_terminal_stays_whole():
    assert columns("  mlp", 20, "a side-by-side", 5) == "  mlp\n      a\n      side-by-side"


def test_lines_of_a_pipe_end_where_columns_says(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal_width() is None
    monkeypatch.setenv("COLUMNS", "44")
    assert terminal_width() == 44


def test_a_text_alone_and_a_long_left_side():
    assert columns("", 0, "one two", 80) == "one two"
    assert columns("", 20, "one", 80) == " " * 20 + "one"
    assert columns("a-name-beyond", 4, "text", 80) == "a-name-beyond text"
