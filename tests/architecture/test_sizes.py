"""No file is two ideas, and no function is longer than a screen."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
KERNEL = sorted((ROOT / "kernel" / "src").rglob("*.py"))
OTHERS = [
    *sorted(ROOT.glob("plugins/*/*/src/**/*.py")),
    *sorted((ROOT / "benchmarks").glob("*.py")),
    *sorted((ROOT / "examples").glob("*/src/**/*.py")),
]
SOURCES = [*KERNEL, *OTHERS]
FORBIDDEN = {"utils", "util", "base", "common", "helpers", "helper", "misc"}
#: Lines of a file and of a function, in the kernel and elsewhere.
FILE_LIMITS = {True: 300, False: 400}
FUNCTION_LIMITS = {True: 40, False: 60}


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_source_file_and_its_functions_are_short(file: Path) -> None:
    text, in_kernel = file.read_text(), file in KERNEL
    # A pragma for a tool may stand beyond the margin, as ruff has it.
    lines = [re.split(r"  # (?:type|noqa)", line)[0] for line in text.splitlines()]
    assert len(lines) <= FILE_LIMITS[in_kernel]
    assert max((len(line) for line in lines), default=0) <= 100
    limit = FUNCTION_LIMITS[in_kernel]
    long = {node.name: size for node in functions(text) if (size := length(node)) > limit}
    assert not long


def functions(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = ast.walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of its body, its docstring left out."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_is_named_after_its_idea(file: Path) -> None:
    assert file.stem not in FORBIDDEN


def test_every_source_file_begins_with_a_docstring() -> None:
    without = [str(f.relative_to(ROOT)) for f in SOURCES if not f.read_text().startswith('"""')]
    assert not without
