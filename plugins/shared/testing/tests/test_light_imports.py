"""Components that import heavy modules are found and named."""

from __future__ import annotations

import contextlib
import sys

import pytest

from rlk.registry.kernel import Kernel
from rlk_testing.tools.light_imports import HEAVY, Refusal, of_module, report


def test_every_installed_component_and_the_help_of_every_command_are_asked():
    registries = Kernel().registries
    components = {f"{entry.kind}/{entry.name}" for entry in registries.every_entry()}
    helps = {f"help/{entry.name}" for entry in registries.commands}
    assert helps and set(report()) == components | helps


def test_a_module_that_imports_something_heavy_is_found():
    assert of_module("rlk_testing.stand_ins.parameters").imports == ["torch"]
    found = of_module("rlk_testing.stand_ins.config")
    assert (found.imports, found.error) == ([], "")


def test_a_module_that_cannot_be_imported_is_told_apart():
    found = of_module("rlk_testing.no_such_module")
    assert found.imports == [] and "No module named 'rlk_testing.no_such_module'" in found.error


@pytest.fixture
def refusal(monkeypatch):
    refusal = Refusal()
    monkeypatch.setattr(sys, "meta_path", [refusal, *sys.meta_path])
    for name in HEAVY:
        monkeypatch.delitem(sys.modules, name, raising=False)
    return refusal


def test_an_import_that_the_importer_would_do_without_counts_too(refusal):
    def tries():
        with contextlib.suppress(ImportError):
            import mpi4py  # noqa: F401

    assert refusal.finding(tries, HEAVY).imports == ["mpi4py"]
    assert refusal.finding(lambda: None, HEAVY).imports == []


def test_what_fails_for_another_reason_says_why(refusal):
    found = refusal.finding(lambda: 1 / 0, HEAVY)
    assert (found.imports, found.error) == ([], "ZeroDivisionError: division by zero")
