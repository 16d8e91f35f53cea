"""States that the zip serializer refuses to write."""

from __future__ import annotations

import enum
from typing import Any

import numpy as np
import pytest
import torch
from zip_states import there_and_back, written


class Stranger:
    """An object of a user's own."""


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (np.zeros(2, [("a", "f4")]), r"state/storage/3 is a structured array .* as uint8"),
        (np.array(["text"]), r"state/storage/3 is of the numpy dtype <U4"),
        (np.array([None]), r"state/storage/3 is of the numpy dtype object"),
        (np.zeros(2, np.complex128), r"numpy dtype complex128"),
        (np.zeros(2, "datetime64[s]"), r"numpy dtype datetime64"),
        (np.ma.array([1, 2], mask=[True, False]), r"masked array"),
        (np.str_("text"), r"state/storage/3 is"),
        (
            torch.zeros(2, dtype=torch.complex128),
            r"state/storage/3 is a tensor of torch.complex128",
        ),
        (torch.eye(2).to_sparse(), r"state/storage/3 is a sparse"),
        (torch.zeros(2, device="meta"), r"meta tensor"),
        (b"bytes", r"state/storage/3 is of type bytes"),
        ({1, 2}, r"type set"),
        (1j, r"type complex"),
        (Colour.RED, r"type Colour"),
        (Stranger(), r"state/storage/3 is of type Stranger"),
        ({"deep": {4: "x"}}, r"state/storage/3/deep has the key 4 of type int; keys must be str"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_its_key_path(value: Any, match: str) -> None:
    with pytest.raises(TypeError, match=match):
        written({"storage": [0, 1, 2, value]})


@pytest.mark.parametrize("sign", [1, -1])
def test_an_int_of_more_than_4300_digits_is_refused(sign: int) -> None:
    value, longest = sign * 10**4300, sign * (10**4300 - 1)
    assert there_and_back({"storage": [0, longest]}) == {"storage": [0, longest]}
    for state in ({"storage": [0, value]}, {"manifest": {"seed": value}}):
        with pytest.raises(ValueError, match=r"4300 digits"):
            written(state)


def test_what_could_not_be_read_again_is_not_written() -> None:
    nested: list[Any] = []
    for _ in range(100):
        nested = [nested]
    with pytest.raises(ValueError, match=r"state\.json: it is nested too deep"):
        written({"storage": nested})


def test_a_tensor_in_the_manifest_is_refused() -> None:
    with pytest.raises(TypeError, match="state/manifest/seed/0 is a tensor"):
        written({"manifest": {"seed": [np.int64(3)]}})


def test_a_manifest_that_is_no_dict_is_refused() -> None:
    with pytest.raises(TypeError, match="state/manifest is a list"):
        written({"manifest": [1]})


@pytest.mark.parametrize("key", ["format", "format_version", "format_parts"])
def test_a_manifest_with_a_key_of_the_formats_own_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=f"state/manifest/{key} is written by"):
        written({"manifest": {key: 1}})
