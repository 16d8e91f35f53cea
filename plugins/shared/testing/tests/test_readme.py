"""The README names every suite with its class attributes, every fixture and every tool."""

from __future__ import annotations

from pathlib import Path

import pytest

import rlk_testing
from rlk_testing import fixtures

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
FOLDER = Path(rlk_testing.__file__).parent
CONTRACTS = [getattr(rlk_testing, name) for name in rlk_testing.__all__ if "Contract" in name]


def attributes(suite):
    """The class attributes that a suite and its parts add to those of `Contract`."""
    parts = [part for part in suite.__mro__ if part.__module__.startswith("rlk_testing")]
    names = {name for part in parts for name in vars(part).get("__annotations__", {})}
    return names - {"kind", "component", "settings"}


@pytest.mark.parametrize("suite", CONTRACTS, ids=lambda suite: suite.__name__)
def test_a_suite_and_its_attributes_are_named(suite):
    rows = [line for line in README.splitlines() if f"`{suite.__name__}`" in line]
    assert rows, "the README does not name it"
    assert not [name for name in own(suite) if f"`{name}`" not in " ".join(rows)]


def own(suite):
    """The class attributes that it does not inherit from another suite of the table."""
    bases = [base for base in suite.__mro__[1:] if base in CONTRACTS]
    run = {"algo", "env", "timesteps", "given", "spoilt"}
    shared = run if "as a callback" in row(suite) else set()
    return attributes(suite).difference(shared, *map(attributes, bases))


def row(suite):
    return next((line for line in README.splitlines() if f"| `{suite.__name__}`" in line), "")


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
