"""The README names every suite, fixture and tool; a suite describes its own attributes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rlk_testing
from rlk_testing import fixtures

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FOLDER = Path(rlk_testing.__file__).parent
CONTRACTS = [getattr(rlk_testing, name) for name in rlk_testing.__all__ if "Contract" in name]


@pytest.mark.parametrize("suite", CONTRACTS, ids=lambda suite: suite.__name__)
def test_a_suite_is_named_and_describes_its_attributes(suite):
    assert f"`{suite.__name__}`" in README
    parts = [part for part in suite.__mro__ if part.__module__.startswith("rlk_testing")]
    names = {name for part in parts for name in vars(part).get("__annotations__", {})} - {"kind"}
    told = "\n".join(part.__doc__ or "" for part in parts)
    assert names, "a suite has attributes"
    assert not [name for name in names if not re.search(rf"\b{name}(, \w+)*:", told)]


def test_every_fixture_is_named():
    found = [name for name in vars(fixtures) if name.startswith("rlk_")]
    assert len(found) >= 6
    assert not [name for name in found if f"`{name}`" not in README]


def listed():
    rows = README.split("## For tests of your own")[1].split("|---|---|\n")[1].splitlines()
    names = [name for line in rows for name in line.split("|")[1].strip().split(", ")]
    return {name.strip("`").replace(".", "/") for name in names}


def test_every_module_that_is_listed_is_there():
    missing = [name for name in listed() if not (FOLDER / f"{name}.py").exists()]
    assert all((FOLDER / name / "__init__.py").exists() for name in missing), missing


def test_every_tool_is_listed():
    tools = {f"tools/{file.stem}" for file in (FOLDER / "tools").glob("[!_]*.py")}
    assert tools == {name for name in listed() if name.startswith("tools/")}
