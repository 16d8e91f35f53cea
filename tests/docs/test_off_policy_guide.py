"""The example of docs/writing-an-off-policy-algorithm.md is sound, and is what the page shows."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "off_policy_algorithm"
GUIDE = ROOT / "docs" / "writing-an-off-policy-algorithm.md"
sys.path.insert(0, str(EXAMPLE / "src"))


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    """Make the example importable, also in processes that a check starts."""
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLE / "src"), prepend=os.pathsep)


def module_of(path: Path):
    spec = importlib.util.spec_from_file_location(f"example_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class TestEnsembleDDPG(module_of(EXAMPLE / "tests" / "test_contract.py").TestEnsembleDDPG):
    from acme_ensemble.component import component


BY_HAND = vars(module_of(EXAMPLE / "tests" / "test_loss.py"))


@pytest.mark.parametrize("check", [name for name in BY_HAND if name.startswith("test_")])
def test_its_formulas_are_right(check):
    BY_HAND[check]()


def shown() -> list[tuple[str, str]]:
    """(file, code) of every block of the guide that begins with the name of a file."""
    blocks = re.findall(r"```python\n# (\S+\.py)\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    return [(name, code.strip("\n")) for name, code in blocks]


def test_the_guide_shows_code_of_every_file():
    assert {Path(name).name for name, _ in shown()} == {
        "component.py",
        "config.py",
        "loss.py",
        "algorithm.py",
        "test_contract.py",
    }


@pytest.mark.parametrize(("name", "code"), shown(), ids=lambda value: value.splitlines()[0])
def test_what_the_guide_shows_stands_in_the_example(name, code):
    text = (EXAMPLE / name).read_text()
    assert code in text or textwrap.indent(code, "    ") in text
