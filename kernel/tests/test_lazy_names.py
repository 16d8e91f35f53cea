"""A package's names that are imported on first use."""

from __future__ import annotations

import sys

import pytest

from rlk_testing.tools.fresh_python import run_python


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `lazy_one` whose submodule `things` says when it is imported."""
    folder = tmp_path / "lazy_one"
    folder.mkdir()
    folder.joinpath("__init__.py").write_text(
        "from rlk.lazy_names import lazy_names\n"
        "__getattr__, __dir__, __all__ = lazy_names(\n"
        "    __name__, {'second': 'things', 'FIRST': 'things'}\n"
        ")\n"
    )
    folder.joinpath("things.py").write_text("FIRST = 'first'\ndef second(): return 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield __import__("lazy_one")
    for name in ("lazy_one", "lazy_one.things"):
        sys.modules.pop(name, None)


def test_a_name_is_imported_when_it_is_used(package):
    assert "lazy_one.things" not in sys.modules
    assert package.second() == 2
    assert "lazy_one.things" in sys.modules
    assert package.FIRST == "first"


def test_another_name_is_missing_as_in_any_module(package):
    with pytest.raises(AttributeError, match=r"^module 'lazy_one' has no attribute 'third'$"):
        package.third  # noqa: B018
    assert not hasattr(package, "things_of_no_module")
    assert "lazy_one.things" not in sys.modules


def test_dir_lists_them_and_submodules_but_not_what_the_package_imports_for_itself(package):
    assert {name for name in dir(package) if not name.startswith("__")} == {"FIRST", "second"}
    assert "__name__" in dir(package) and dir(package) == sorted(dir(package))
    assert "lazy_one.things" not in sys.modules
    package.second()
    assert "things" in dir(package)


def test_a_star_import_brings_them_and_nothing_else(package):
    names: dict[str, object] = {}
    exec("from lazy_one import *", names)
    assert set(names) - {"__builtins__"} == {"FIRST", "second"}


def test_it_needs_nothing_heavy():
    code = (
        "import sys, rlk.lazy_names\n"
        "print(sorted({'torch', 'numpy', 'gymnasium', 'attrs', 'pluggy'} & set(sys.modules)))"
    )
    assert run_python(code) == "[]"
