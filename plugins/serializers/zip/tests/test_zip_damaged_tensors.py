"""Tensors in a zip that differ from their header are not read."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from forged_zips import rebuilt, refused, tensors_member

from rlk_zip.serializer import ZipSerializer


def entry(**changes: Any) -> Any:
    return {"x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4], **changes}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        tensors_member({}, length=2**63),
        tensors_member({}, length=1000),
        tensors_member(b"{"),
        tensors_member([]),
        tensors_member({}),
        tensors_member({"x": 3}),
        tensors_member({"x": {"dtype": "U8"}}),
        tensors_member(entry(dtype="U9"), b"1234"),
        tensors_member(entry(dtype=["U8"]), b"1234"),
        tensors_member(entry(dtype="BF16", shape=[2]), b"1234"),
        tensors_member(entry(shape=[5]), b"1234"),
        tensors_member(entry(shape=[-4]), b"1234"),
        tensors_member(entry(shape=[2.0, 2]), b"1234"),
        tensors_member(entry(shape="4"), b"1234"),
        tensors_member(entry(data_offsets=[0]), b"1234"),
        tensors_member(entry(data_offsets=[1, 5]), b"12345"),
        tensors_member(entry(data_offsets=[-4, 0]), b"1234"),
        tensors_member(entry(), b"123"),
        tensors_member(entry(), b"12345"),
        tensors_member(entry(shape=[2**40], data_offsets=[0, 2**40]), b"1234"),
        tensors_member(entry(shape=[1] * 100), b"1"),
        tensors_member({**entry(), "y": entry()["x"]}, b"1234"),
    ],
)
def test_tensors_whose_header_lies_are_damage(content: bytes) -> None:
    structure = b'{"x":{"$array":"x"}}'
    data = rebuilt({"state.json": structure, "tensors.safetensors": content})
    refused(data, "damaged")


@pytest.mark.parametrize(
    ("other", "data"), [((0, 4), b"1234"), ((2, 6), b"123456"), ((5, 9), b"123456789")]
)
def test_tensors_that_overlap_or_leave_a_gap_are_damage(
    other: tuple[int, int], data: bytes
) -> None:
    structure = b'{"x":{"$array":"x"},"y":{"$array":"y"}}'
    content = tensors_member({**entry(), "y": entry(data_offsets=other)["x"]}, data)
    changes = {"state.json": structure, "tensors.safetensors": content}
    refused(rebuilt(changes), "damaged: .*offset for tensor `[xy]`")


def test_a_tensor_that_is_there_twice_is_refused() -> None:
    one = json.dumps(entry()["x"])
    content = tensors_member(f'{{"x":{one},"x":{one}}}'.encode(), b"1234")
    data = rebuilt({"state.json": b'{"x":{"$array":"x"}}', "tensors.safetensors": content})
    refused(data, "it has the key 'x' twice")


def test_a_head_of_tensors_that_is_too_large_is_refused() -> None:
    content = tensors_member({}, length=(16 << 20) + 1)
    refused(rebuilt({"tensors.safetensors": content}), "the head of the tensors has 16777217 bytes")


def test_the_same_with_an_honest_header_is_read() -> None:
    structure = b'{"x":{"$array":"x"}}'
    content = tensors_member({**entry(), "__metadata__": {"by": "hand"}}, b"1234")
    data = rebuilt({"state.json": structure, "tensors.safetensors": content})
    assert ZipSerializer().read_from(io.BytesIO(data))["x"].tolist() == [49, 50, 51, 52]
