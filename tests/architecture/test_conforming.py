"""Type checkers compare every component with the protocol of its kind."""

from __future__ import annotations

import tomllib
from pathlib import Path
from types import FunctionType

import pytest
from architecture.conforming import CHECKED

from rlk.required_methods import OF_KIND

ROOT = Path(__file__).parents[2]


def test_mypy_checks_the_components_a_program_and_the_examples():
    configured = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]["files"]
    checked = {path for pattern in configured for path in ROOT.glob(pattern)}
    here = [
        ROOT / "tests" / "architecture" / f"{name}.py" for name in ("conforming", "typed_program")
    ]
    examples = [path for path in ROOT.glob("examples/**/*.py") if "tests" not in path.parts]
    assert len(examples) > 15
    assert [path for path in (*here, *examples) if not {path, *path.parents} & checked] == []


def test_every_kind_with_a_protocol_is_there():
    assert CHECKED.keys() == {*OF_KIND, "environments", "finders"}


@pytest.mark.parametrize("kind", CHECKED)
def test_every_installed_component_is_there(kind, rlk_kernel):
    entries = rlk_kernel.registries[kind]
    factories = [entry.load() for entry in entries if entry.dist.startswith("rlk-")]
    made_by = {one if isinstance(one, type | FunctionType) else type(one) for one in factories}
    assert made_by == {*CHECKED[kind]}
