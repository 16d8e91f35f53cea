"""Errors of others, in the words of a message."""

from __future__ import annotations

import pytest

from rlk.errors import UnknownName, described


def test_an_error_is_described_by_its_type_and_message():
    assert described(ValueError("no such size")) == "ValueError: no such size"
    assert described(ValueError("No such size.")) == "ValueError: No such size"


def test_an_error_without_a_message_is_described_by_its_place():
    size = 0
    with pytest.raises(AssertionError) as caught:
        raise AssertionError if size == 0 else ValueError
    told = described(caught.value)
    assert told.startswith(f"AssertionError at {__file__}:")
    assert told.endswith(": raise AssertionError if size == 0 else ValueError")


def test_an_error_that_nobody_raised_has_only_its_type():
    assert described(AssertionError()) == "AssertionError"


def test_notes_come_last():
    error = ValueError("no such size")
    error.add_note("Use another one")
    assert described(error) == "ValueError: no such size. Use another one"


def test_an_unknown_name_where_there_is_none_at_all_says_so_in_a_sentence():
    said = str(UnknownName("setting of storage 'keeps':", "size", []))
    assert (
        said
        == "unknown setting of storage 'keeps': 'size'. There is no setting of storage 'keeps'."
    )
    said = str(UnknownName("setting", "size", [], where="this run's storages"))
    assert said == (
        "unknown setting 'size' in this run's storages. There is no setting in this run's storages."
    )
