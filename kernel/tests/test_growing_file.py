"""Files that grow for as long as a run lasts: failed writes, and files that somebody takes away."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from rlk import growing_file
from rlk.growing_file import GrowingFile
from rlk_testing.tools.faults import disk_gone_after


@pytest.fixture
def file(tmp_path):
    """A file with a head and one row."""
    made = GrowingFile(tmp_path / "rows")
    assert made.write(b"1\n", head=b"n\n")
    return made


def cut_in_the_middle(file, data):
    with disk_gone_after(4), pytest.raises(OSError, match="tale file handle"):
        file.write(data, head=b"n\n")


def test_a_write_rests_for_some_seconds_after_it_has_failed(file, monkeypatch):
    clock = SimpleNamespace(now=100.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(growing_file, "time", clock)
    assert file.is_due()
    with pytest.raises(OSError, match="full"), file.attempt():
        clock.now = 130.0  # an attempt may take long
        raise OSError("full")
    assert not file.is_due()
    clock.now = 130.0 + growing_file.REST_SECONDS
    assert file.is_due()
    with file.attempt():
        pass
    clock.now = 0.0
    assert file.is_due()


def test_a_row_that_a_lost_disk_cuts_in_the_middle_is_not_continued_by_the_next(file):
    cut_in_the_middle(file, b"333333\n")
    assert file.path.read_bytes() == b"n\n1\n3333"
    cut_in_the_middle(file, b"333333\n")
    assert file.path.read_bytes() == b"n\n1\n3333"
    assert not file.write(b"333333\n7.5\n", head=b"n\n")
    assert file.path.read_bytes() == b"n\n1\n333333\n7.5\n"


@pytest.mark.parametrize("there", [b"n\n", b"n\n1\n" + b"another file\n" * 9])
def test_nothing_is_cut_off_a_file_that_somebody_replaced_after_a_failed_write(file, there):
    cut_in_the_middle(file, b"333333\n")
    file.path.write_bytes(there)
    file.write(b"2\n", head=b"n\n")
    assert file.path.read_bytes() == there + b"2\n"


def test_a_file_that_was_moved_away_or_emptied_begins_anew(file):
    file.path.rename(file.path.with_suffix(".1"))
    assert file.write(b"2\n", head=b"n\n")
    file.path.write_bytes(b"")
    assert file.write(b"3\n", head=b"n\n")
    assert not file.write(b"4\n", head=b"n\n")
    assert file.path.read_bytes() == b"n\n3\n4\n"
