"""Whose fault an unexpected error may be."""

from __future__ import annotations

import dataclasses
import importlib
import importlib.metadata
import os
import sys

import numpy as np
import pytest

from rlk.registry import discovery
from rlk.registry.discovery import Point
from rlk_cli import fault_place
from rlk_cli.fault_place import places


@pytest.fixture
def packages(tmp_path, monkeypatch):
    """Three packages: a component's, its library's, and one that is installed and not rlk's."""
    monkeypatch.syspath_prepend(tmp_path)
    foreign = tmp_path / "installed"
    foreign.mkdir()
    monkeypatch.syspath_prepend(foreign)
    monkeypatch.setattr(fault_place.sys, "prefix", str(foreign))
    (foreign / "tensors.py").write_text("def product(a, b):\n    return a @ b\n")
    monkeypatch.setattr(importlib.metadata, "version", {"rlk-sums": "0.3"}.__getitem__)
    for name in ("my_learner", "rlk_sums", "tensors"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "rlk_sums.py").write_text(
        "import tensors\n\ndef total(a):\n    return tensors.product(a, a)\n"
    )
    (tmp_path / "my_learner.py").write_text(
        "import rlk_sums\n\ndef learn():\n    return rlk_sums.total(1)\n"
    )
    points = [Point("algorithms", "learner", "my_learner:component", "my-learner", "1.2")]
    monkeypatch.setattr(fault_place, "entry_points", lambda: iter(points))
    return {name: importlib.import_module(name) for name in ("my_learner", "rlk_sums", "tensors")}


def raised(function):
    """The places of the error that a function raises."""
    try:
        function()
    except Exception as error:
        return places(error)
    raise AssertionError("nothing was raised")


def test_the_innermost_line_of_rlk_is_named_and_the_component_that_called_it(packages):
    library, component = raised(packages["my_learner"].learn)
    assert (library.owner, library.line) == ("rlk-sums 0.3", 4)
    assert (component.owner, component.line) == ("my-learner 1.2", 4)
    assert str(component).startswith("  in my-learner 1.2, ")
    assert str(component).endswith("my_learner.py:4: return rlk_sums.total(1)")


def test_a_folder_whose_name_begins_as_that_of_the_virtual_environment_is_the_users(monkeypatch):
    here = os.path.dirname(__file__)
    monkeypatch.setattr(fault_place.sys, "prefix", here[:-1])
    assert len(raised(lambda: 1 / 0)) == 1
    monkeypatch.setattr(fault_place.sys, "prefix", here)
    assert raised(lambda: 1 / 0) == []


def test_a_file_of_the_users_is_named_by_its_name():
    (place,) = raised(lambda: 1 / 0)
    assert place.owner == "test_fault_place.py" and place.is_component


def test_an_error_of_nobody_of_rlk_has_no_place(packages):
    try:
        packages["tensors"].product(1, 1)
    except TypeError as error:
        assert places(error.with_traceback(error.__traceback__.tb_next)) == []


def test_of_code_that_was_generated_for_a_class_the_line_that_called_it_is_named(packages):
    @dataclasses.dataclass
    class Numbers:
        __module__ = "my_learner"
        values: np.ndarray
        unit: str = "m"  # one field alone is compared without asking whether it is true

    (place,) = raised(lambda: Numbers(np.ones(2)) == Numbers(np.ones(2)))
    assert place.owner == "test_fault_place.py"


def test_the_entry_points_say_which_package_is_whose():
    owners = {point.target.partition(".")[0]: point.dist for point in discovery.entry_points()}
    assert owners["rlk_ppo2"] == "rlk-ppo2"


def test_an_error_in_compiled_code_is_of_who_called_it():
    (place,) = raised(lambda: np.random.SeedSequence(-1))
    assert place.owner == "test_fault_place.py"
