"""No file is two ideas, and the kernel stays small."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [
    *sorted((ROOT / "kernel" / "src").rglob("*.py")),
    *sorted(ROOT.glob("plugins/*/*/src/**/*.py")),
    *sorted((ROOT / "benchmarks").glob("*.py")),
    *sorted((ROOT / "examples").glob("*/src/**/*.py")),
]
FORBIDDEN = {"utils", "util", "base", "common", "helpers", "helper", "misc"}


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_source_file_has_at_most_400_lines_of_at_most_100_characters(file: Path) -> None:
    # A pragma for a tool may stand beyond the margin, as ruff has it.
    lines = [re.split(r"  # (?:type|noqa)", line)[0] for line in file.read_text().splitlines()]
    assert len(lines) <= 400
    assert max((len(line) for line in lines), default=0) <= 100


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_file_is_named_after_its_idea(file: Path) -> None:
    assert file.stem not in FORBIDDEN


def test_every_source_file_begins_with_a_docstring() -> None:
    without = [str(f.relative_to(ROOT)) for f in SOURCES if not f.read_text().startswith('"""')]
    assert not without


def test_the_kernel_without_its_contract_suites_has_under_3000_lines() -> None:
    kernel = ROOT / "kernel" / "src" / "rlk"
    files = [f for f in kernel.rglob("*.py") if "testing" not in f.relative_to(kernel).parts]
    assert sum(len(f.read_text().splitlines()) for f in files) < 3000
