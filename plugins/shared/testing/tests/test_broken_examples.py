"""Every check of a contract suite has a test here that it fails for a broken plugin."""

from __future__ import annotations

import ast
from pathlib import Path

import rlk_testing

SUITES = [getattr(rlk_testing, name) for name in rlk_testing.__all__ if name.endswith("Contract")]


def test_no_check_is_without_a_test_that_names_it():
    named = set()
    for file in Path(__file__).parent.glob("test_*.py"):
        nodes = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        named |= {node.value for node in nodes if isinstance(node, ast.Constant)}
    checks = {name for suite in SUITES for name in dir(suite) if name.startswith("test_")}
    assert len(checks) > len(SUITES), "the suites have checks"
    missing = sorted(checks - named)
    assert not missing, f"for {missing}, write the smallest plugin that breaks it (rlk_fails)"
