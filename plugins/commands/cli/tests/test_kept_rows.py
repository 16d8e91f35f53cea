"""What a listing keeps, and what makes it be made anew."""

import os
import sys

import pytest

from rlk.component import Component
from rlk.registry.entry import Entry
from rlk.registry.registries import Registries
from rlk_cli import kept_rows


@pytest.fixture
def registries():
    found = Registries()
    component = Component(name="one", factory="made_to_be_listed:One")
    found.callbacks.add(Entry("callbacks", "one", "rlk-one", "0.1", lambda: component))
    return found


@pytest.fixture
def source(tmp_path, monkeypatch):
    """The file of the factory, in a folder on `sys.path`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "made_to_be_listed.py"
    file.write_text("class One: ...\n")
    return file


ROW = {"kind": "callbacks", "name": "one", "dist": "rlk-one", "problem": None}
ROWS = [ROW | {"factory": "made_to_be_listed:One"}]


def test_nothing_is_kept_at_first(registries):
    assert kept_rows.load(registries) is None


def test_what_was_kept_comes_back(registries, source):
    kept_rows.save(registries, ROWS)
    assert kept_rows.load(registries) == ROWS


def test_a_change_of_a_factorys_source_is_noticed(registries, source):
    kept_rows.save(registries, ROWS)
    source.write_text("class One: pass\n")
    assert kept_rows.load(registries) is None


def test_a_change_that_leaves_the_size_is_noticed_by_its_time(registries, source):
    kept_rows.save(registries, ROWS)
    before = source.stat()
    os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000))
    assert kept_rows.load(registries) is None


def test_a_change_of_an_imported_module_is_noticed(registries, source, monkeypatch):
    imported = source.with_name("also_imported.py")
    imported.write_text("")
    monkeypatch.setitem(sys.modules, "also_imported", type(sys)("also_imported"))
    sys.modules["also_imported"].__file__ = str(imported)
    kept_rows.save(registries, ROWS)
    assert kept_rows.load(registries) == ROWS
    imported.unlink()
    assert kept_rows.load(registries) is None


def test_something_new_in_a_folder_on_the_path_is_noticed(registries, source):
    kept_rows.save(registries, ROWS)
    (source.parent / "shadows.py").write_text("")
    assert kept_rows.load(registries) is None


def test_another_path_is_noticed(registries, source, monkeypatch):
    kept_rows.save(registries, ROWS)
    monkeypatch.setattr(sys, "path", [*sys.path, "elsewhere"])
    assert kept_rows.load(registries) is None


def test_another_version_is_noticed(registries, source):
    kept_rows.save(registries, ROWS)
    registries.callbacks.entries.pop("one")
    registries.callbacks.add(Entry("callbacks", "one", "rlk-one", "0.2", dict))
    assert kept_rows.load(registries) is None


@pytest.mark.parametrize("change", [{"problem": "broken"}, {"dist": "this program"}])
def test_problems_and_what_a_program_registers_are_not_kept(registries, source, change):
    kept_rows.save(registries, [ROWS[0] | change])
    assert kept_rows.load(registries) is None


@pytest.mark.parametrize("text", ["", "[1, 2", "{}", "3", "[1]"])
def test_a_file_of_another_form_is_passed_over(registries, source, cache_folder, text):
    kept_rows.save(registries, ROWS)
    (file,) = (cache_folder / "rlk").iterdir()
    file.write_text(text)
    assert kept_rows.load(registries) is None


def test_where_nothing_can_be_written_nothing_is_kept(registries, source, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    kept_rows.save(registries, ROWS)
    assert kept_rows.load(registries) is None


def test_for_a_user_without_a_home_nothing_is_kept(registries, source, monkeypatch, tmp_path):
    def unknown(uid):
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", unknown)
    for name in ("HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    kept_rows.save(registries, ROWS)
    assert kept_rows.load(registries) is None
    assert not (tmp_path / "~").exists()
