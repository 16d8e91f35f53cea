"""Every promise of docs/promises.md names a test that exists."""

from __future__ import annotations

import ast
import functools
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`([\w./-]+\.py)::(\w+)`", PAGE)))


def test_every_row_of_the_tables_names_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and "shown by" not in line]
    assert rows and not [row for row in rows if "::" not in row]


@pytest.mark.parametrize(("name", "test"), NAMED)
def test_the_tests_that_show_a_promise_are_there(name, test):
    path = ROOT / name if "/" in name else ROOT / "tests" / "faults" / name
    assert test in functions(path)


@functools.cache
def functions(path):
    """The names of the functions and methods of a file."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
