"""kernel/README.md describes every module in the kernel's folders, and no other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
PAGE = (KERNEL / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ["registry", "planning", "running"])
def test_the_table_of_a_room_names_its_modules(room):
    section = PAGE.split(f"## `rlk.{room}`")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    files = {file.stem for file in (KERNEL / "src" / "rlk" / room).glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(files)
