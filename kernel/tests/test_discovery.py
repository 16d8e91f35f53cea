"""Entry points are found in the folders where `importlib.metadata` finds them."""

from __future__ import annotations

import sys
from importlib.metadata import distributions

import pytest

from rlk.registry.discovery import PREFIX, entry_points

POINTS = "[rlk.storages]\nshelf = shelf_module:Shelf.made\n[console_scripts]\nshelf = shelf:main\n"
METADATA = "Metadata-Version: 2.1\nName: rlk-shelf\nVersion: 0.3\n\nName: of no distribution\n"


def found(dist="rlk-shelf"):
    return [point for point in entry_points() if point.dist == dist]


@pytest.fixture
def site(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_they_are_those_that_importlib_metadata_finds():
    expected = {
        (point.group, point.name, point.value, dist.metadata["Name"], dist.version)
        for dist in distributions()
        for point in dist.entry_points
        if point.group.startswith(PREFIX)
    }
    assert len(expected) > 20
    points = {(f"{PREFIX}{p.kind}", p.name, p.target, p.dist, p.version) for p in entry_points()}
    assert points == expected


@pytest.mark.parametrize(
    ("folder", "metadata"),
    [
        ("rlk_shelf-0.3.dist-info", "METADATA"),
        ("rlk_shelf.egg-info", "PKG-INFO"),
        ("EGG-INFO", "PKG-INFO"),
    ],
)
def test_a_folder_of_metadata_is_read(site, folder, metadata):
    (site / folder).mkdir()
    (site / folder / "entry_points.txt").write_text(POINTS)
    (site / folder / metadata).write_text(METADATA)
    (point,) = found()
    assert point == ("storages", "shelf", "shelf_module:Shelf.made", "rlk-shelf", "0.3")


def test_what_is_not_there_or_holds_no_metadata_is_passed_over(site, monkeypatch):
    monkeypatch.syspath_prepend(str(site / "absent"))
    (site / "rlk_shelf-0.3.dist-info").write_text("a file")
    monkeypatch.syspath_prepend(str(site / "rlk_shelf-0.3.dist-info"))
    (site / "shelf.egg-info").mkdir()
    assert found() == []


def test_an_entry_point_imports_what_it_names(site):
    (site / "shelf_module.py").write_text("class Shelf:\n    made = 'by hand'\n")
    (site / "rlk_shelf-0.3.dist-info").mkdir()
    (site / "rlk_shelf-0.3.dist-info" / "entry_points.txt").write_text(POINTS)
    (site / "rlk_shelf-0.3.dist-info" / "METADATA").write_text(METADATA)
    (point,) = found()
    assert "shelf_module" not in sys.modules
    assert point.load() == "by hand"
    del sys.modules["shelf_module"]


def test_a_badly_encoded_file_is_read_as_far_as_it_can_be(site):
    (site / "rlk_shelf-0.3.dist-info").mkdir()
    (site / "rlk_shelf-0.3.dist-info" / "METADATA").write_bytes(METADATA.encode() + b"\xfc")
    points = POINTS.encode() + b"[rlk.wrappers]\nb\xfccher = shelf_module:Books\n"
    (site / "rlk_shelf-0.3.dist-info" / "entry_points.txt").write_bytes(points)
    assert [point.name for point in found()] == ["shelf", "b\ufffdcher"]
