"""kernel/README.md describes every module in the kernel's folders, and no other."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "kernel"
PAGE = (KERNEL / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("room", ["registry", "planning", "restoring", "running", "saving"])
def test_the_table_of_a_room_names_its_modules(room):
    section = PAGE.split(f"## `rlk.{room}`")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`(\w+)`", cell)]
    files = {file.stem for file in (KERNEL / "src" / "rlk" / room).glob("*.py")} - {"__init__"}
    assert sorted(named) == sorted(files)


#: Of the top level, what runs the command line, and the package itself.
NOT_IMPORTED = {"__init__", "__main__"}


def test_the_table_of_what_plugins_import_names_the_modules_of_the_top_level():
    section = PAGE.split("## What plugins import")[1].split("\nEverything else")[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    named = [name for cell in cells for name in re.findall(r"`rlk\.(\w+)`", cell)]
    files = {file.stem for file in (KERNEL / "src" / "rlk").glob("*.py")} - NOT_IMPORTED
    assert sorted(named) == sorted(files)


def test_the_public_names_of_the_rooms_exist():
    section = PAGE.split("\nEverything else")[1].split("\n## ")[0]
    cells = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `rlk.")]
    assert len(cells) > 10
    for cell in "; ".join(cells).split(";"):
        module, *names = re.findall(r"`([\w.]+)`", cell)
        found = importlib.import_module(module)
        assert names and all(hasattr(found, name) for name in names), cell
