"""No file is two ideas, and no function is longer than a screen."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KERNEL = sorted((ROOT / "kernel" / "src").rglob("*.py"))
OTHERS = [
    *sorted(ROOT.glob("plugins/*/*/src/**/*.py")),
    *sorted((ROOT / "benchmarks").rglob("*.py")),
    *sorted((ROOT / "examples").glob("*/src/**/*.py")),
]
SOURCES = [*KERNEL, *OTHERS]
TESTS = [
    file
    for pattern in ("kernel/tests/**/*.py", "plugins/*/*/tests/**/*.py", "tests/**/*.py")
    for file in sorted(ROOT.glob(pattern))
]
FORBIDDEN = {"utils", "util", "base", "common", "helpers", "helper", "misc"}
#: Lines of a file and of a function, in the kernel and elsewhere.
FILE_LIMITS = {True: 300, False: 400}
FUNCTION_LIMITS = {True: 40, False: 60}


def test_source_files_and_their_functions_are_short() -> None:
    found = {str(file.relative_to(ROOT)): problems(file) for file in SOURCES}
    assert not {file: wrong for file, wrong in found.items() if wrong}


def test_files_of_tests_are_no_longer_than_other_files() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in TESTS}
    assert len(lengths) > 100
    assert not {file: lines for file, lines in lengths.items() if lines > FILE_LIMITS[False]}


def problems(file: Path) -> list[str]:
    """Lines and functions that are too long in a file."""
    text, in_kernel = file.read_text(), file in KERNEL
    # A pragma for a tool may exceed the line length, as in ruff.
    lines = [re.split(r"  # (?:type|noqa)", line)[0] for line in text.splitlines()]
    found = [f"line {i} has {len(line)}" for i, line in enumerate(lines, 1) if len(line) > 100]
    if len(lines) > FILE_LIMITS[in_kernel]:
        found.append(f"{len(lines)} lines")
    limit = FUNCTION_LIMITS[in_kernel]
    long = [(node.name, size) for node in functions(text) if (size := length(node)) > limit]
    return found + [f"{name} has {size} lines" for name, size in long]


def functions(text: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = ast.walk(ast.parse(text))
    return [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of its body, without its docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def test_files_are_named_after_their_idea() -> None:
    assert not [str(f.relative_to(ROOT)) for f in SOURCES if f.stem in FORBIDDEN]


def test_every_source_file_begins_with_a_docstring() -> None:
    without = [str(f.relative_to(ROOT)) for f in SOURCES if not f.read_text().startswith('"""')]
    assert not without
