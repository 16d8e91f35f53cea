"""The part of a serializer's contract that is about what it must not write or read."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk.errors import BadFile
from rlk_testing.contracts.serializer.suite import SerializerSuite
from rlk_testing.contracts.shared.applies import applies
from rlk_testing.contracts.shared.contract import Contract
from rlk_testing.tools.forged_files import (
    members,
    packed,
    with_names_twice,
    with_other_values,
)
from rlk_testing.tools.states import same


def reads_data_only(suite: Contract) -> bool:
    """Whether reading a file runs no code from it: so unless the component says `runs_code`."""
    return not suite.record().runs_code


class SerializerRefusalChecks(SerializerSuite):
    """Checks that `SerializerContract` inherits."""

    def newer(self, data: bytes) -> bytes | None:
        """The file as a newer version of this serializer would write it; None if that is unknown.

        By default, it increases all integers in the JSON documents of a zip whose key contains
        `format` or `version`.
        """
        return newer_zip(data) if zipfile.is_zipfile(io.BytesIO(data)) else None

    def forged(self, data: bytes) -> Iterable[tuple[str, bytes]]:
        """(description, file) for files with one value replaced by a value of another type.

        By default, it replaces values in the JSON documents of a zip.
        """
        return with_other_values(data) if zipfile.is_zipfile(io.BytesIO(data)) else ()

    def twice(self, data: bytes) -> Iterable[tuple[str, bytes]]:
        """(description, file) for files with a duplicate name; by default, for zips only."""
        return with_names_twice(data) if zipfile.is_zipfile(io.BytesIO(data)) else ()

    @applies(reads_data_only)
    def test_an_object_that_is_no_state_is_not_written(self) -> None:
        for value in (object(), {1, 2}, lambda: None, np.array([object()], dtype=object)):
            with pytest.raises(Exception, match=r"(?s).+"):
                self.written({"manifest": {}, "value": value})

    @applies(reads_data_only)
    def test_a_file_that_was_cut_off_is_refused(self) -> None:
        data = self.written(
            {"manifest": {"state_version": 1}, "t": torch.arange(500.0), "n": np.arange(500)}
        )
        for end in {*np.linspace(0, len(data) - 1, 25).astype(int), len(data) - 1}:
            with pytest.raises(BadFile):
                self.read(data[:end])

    @applies(reads_data_only)
    def test_a_file_with_other_values_is_refused_or_read_as_a_state(self) -> None:
        values = {"a": 1, "b": [0.5, "x"], "c": {"d": None}, "n": np.arange(3)}
        for what, data in self.forged(self.written({"manifest": {"state_version": 1}, **values})):
            try:
                found = self.read(data)
            except BadFile:
                continue
            except Exception as error:
                pytest.fail(f"with {what}, it raises {type(error).__name__}: {error}")
            assert isinstance(found, dict), f"with {what}, it reads {type(found).__name__}"

    @applies(reads_data_only)
    def test_a_file_in_which_a_name_is_there_twice_is_refused(self) -> None:
        data = self.written({"manifest": {"state_version": 1}, "a": 1, "n": np.arange(3)})
        for what, twice in self.twice(data):
            try:
                self.read(twice)
            except BadFile:
                continue
            pytest.fail(f"with {what} twice, it is read, although the two may differ")

    @applies(reads_data_only)
    def test_a_file_with_a_byte_changed_is_refused_or_read_as_it_was(self) -> None:
        state = {"manifest": {"state_version": 1}, "t": torch.arange(500.0), "n": np.arange(500)}
        data = self.written(state)
        for place in np.linspace(0, len(data) - 1, 60).astype(int):
            changed = bytearray(data)
            changed[place] ^= 0x55
            try:
                found = self.read(bytes(changed))
            except BadFile:
                continue
            assert same(found["t"], state["t"]) and same(found["n"], state["n"]), (
                f"with byte {place} changed, it reads other numbers without an error"
            )

    @applies(reads_data_only)
    def test_a_pickle_is_refused_and_not_run(self, tmp_path: Path) -> None:
        witness = tmp_path / "it ran"
        pickled = pickle.dumps(Trap(str(witness)))
        as_torch_saves = packed([("archive/data.pkl", pickled), ("data.pkl", pickled)])
        for data in (pickled, as_torch_saves):
            with pytest.raises(BadFile):
                self.read(data)
        assert not witness.exists(), "reading ran code from the file"

    @applies(reads_data_only)
    def test_other_files_are_refused(self) -> None:
        for data in (b"", b"\x00" * 200, b"hello", b"{}", b"PK\x03\x04 no zip after all"):
            with pytest.raises(BadFile):
                self.read(data)

    def test_a_file_of_a_newer_format_is_refused(self) -> None:
        data = self.newer(self.written({"manifest": {"state_version": 1}, "value": 1}))
        if data is None:
            pytest.skip("the suite cannot tell what a newer file looks like: override newer(data)")
        with pytest.raises(BadFile, match="newer"):
            self.read(data)


class Trap:
    """An object whose pickle creates a file when it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (self.path, "w"))


def newer_zip(data: bytes) -> bytes | None:
    """The zip with higher versions in its JSON documents; None if they have only the state's."""
    found = members(data)
    changed = False
    for name in [name for name in found if name.endswith(".json")]:
        document = json.loads(found[name])
        for key, value in document.items() if isinstance(document, dict) else ():
            says_version = ("format" in key or "version" in key) and key != "state_version"
            if says_version and type(value) is int:
                document[key], changed = value + 1000, True
        found[name] = json.dumps(document).encode()
    return packed([*found.items()]) if changed else None
