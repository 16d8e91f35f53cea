"""Type checkers compare every component with the protocol of its kind."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import FunctionType

import pytest
from architecture.conforming import CHECKED

import rlk
from rlk.required_methods import OF_KIND

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["conforming.py", "typed_program.py"])
def test_mypy_checks_the_components_and_a_program(name):
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    assert f"tests/architecture/{name}" in configured["files"]
    assert (ROOT / "tests" / "architecture" / name).exists()


def test_every_kind_with_a_protocol_is_there():
    assert CHECKED.keys() == {*OF_KIND, "environments", "finders"}


@pytest.mark.parametrize("kind", CHECKED)
def test_every_installed_component_is_there(kind):
    entries = getattr(rlk.registry, kind)
    factories = [entry.load() for entry in entries if entry.dist.startswith("rlk-")]
    made_by = {one if isinstance(one, type | FunctionType) else type(one) for one in factories}
    assert made_by == {*CHECKED[kind]}
