"""Zips that are cut off, changed or inconsistent are not read."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from forged_zips import STATE, rebuilt, refused
from zip_states import written

from rlk.errors import BadFile
from rlk_zip import archive
from rlk_zip.serializer import ZipSerializer


@pytest.mark.parametrize("member", ["manifest.json", "state.json", "tensors.safetensors"])
def test_a_missing_member_is_named(member: str) -> None:
    refused(rebuilt({member: None}), f"has no {member}")


def test_a_file_cut_off_anywhere_is_refused() -> None:
    data = written(STATE)
    for end in range(len(data)):
        refused(data[:end], "truncated|not a zip|empty|damaged")


def test_a_file_with_any_byte_changed_is_refused_or_reads_the_same() -> None:
    data, ignored = written(STATE), 0
    for at in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            changed = bytearray(data)
            changed[at] ^= flip
            try:
                state = ZipSerializer().read_from(io.BytesIO(bytes(changed)))
            except BadFile:
                continue
            ignored += 1  # a date, an attribute: nothing that is read
            assert state["counters"]["timesteps"] == 1000
            np.testing.assert_array_equal(state["weights"][0], STATE["weights"][0])
            assert state["weights"][1].equal(STATE["weights"][1])
    assert ignored < len(data)  # of three times as many


def test_a_file_that_lost_its_end_is_told_from_one_that_is_no_zip() -> None:
    refused(written(STATE)[:200], "is a zip that has lost its end: it is truncated")


def test_a_structure_that_is_no_object_is_refused_where_there_are_no_tensors() -> None:
    refused(rebuilt({"state.json": b"[]"}, state={"x": 1}), "damaged: state.json is not an object")


def test_a_changed_tensor_is_found_by_its_checksum() -> None:
    data = bytearray(written({"x": np.full(1000, 7, np.uint8)}))
    data[data.index(bytes([7] * 1000)) + 500] = 8
    refused(bytes(data), "damaged: Bad CRC-32 .*tensors.safetensors")


def test_two_members_of_one_name_are_refused() -> None:
    out = io.BytesIO(written(STATE))
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("state.json", "{}")
    refused(out.getvalue(), "two members of the same name")


def test_json_that_would_unpack_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_JSON_BYTES", 1_000_000)
    bomb = b"[" + b" " * 2_000_000 + b"]"
    data = rebuilt({"state.json": bomb}, zipfile.ZIP_DEFLATED)
    assert len(data) < 10_000
    refused(data, "not trusted: state.json would unpack to 2000002 bytes")


def test_json_nested_without_end_is_refused() -> None:
    refused(rebuilt({"state.json": b"[" * 200_000}), "damaged")


def test_json_of_more_values_than_a_state_has_is_refused() -> None:
    data = rebuilt({"state.json": b"[" + b"[]," * 1_000_000 + b"[]]"}, zipfile.ZIP_DEFLATED)
    assert len(data) < 30_000
    refused(data, "state.json: it has up to 2,000,003 values")


@pytest.mark.parametrize("member", ["manifest.json", "state.json"])
def test_an_object_with_a_key_twice_is_refused(member: str) -> None:
    head = b'{"format":"rlk","format_version":1,"x":{"a":1,"a":2}}'
    refused(rebuilt({member: head}), f"{member}: it has the key 'a' twice")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_is_compressed_in_another_way_is_refused(method: int) -> None:
    refused(rebuilt({}, method), "is compressed in another way")


def test_a_zip_whose_lengths_are_in_its_zip64_record_alone_is_read() -> None:
    data = bytearray(written(STATE))
    at = data.rindex(b"PK\x05\x06")
    count, length, begin = struct.unpack("<HII", data[at + 10 : at + 20])
    sizes = struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, length, begin)
    data[at + 12 : at + 20] = b"\xff" * 8
    data[at:at] = b"PK\x06\x06" + sizes + b"PK\x06\x07" + struct.pack("<IQI", 0, at, 1)
    found = ZipSerializer().read_from(io.BytesIO(bytes(data)))
    assert found["counters"]["timesteps"] == 1000


def test_tensors_that_are_compressed_are_refused() -> None:
    refused(rebuilt({}, zipfile.ZIP_DEFLATED), "tensors.safetensors is compressed")


@pytest.mark.parametrize(
    ("structure", "says"),
    [
        (b"[]", "unexpected dtype"),
        (b"null", "unexpected dtype"),
        (b'{"$array":"weights/0"}', "unexpected dtype"),
        (b'{"x":{"$pickle":"gASV"}}', "unknown object"),
        (b'{"x":{"$float":"1.5"}}', "unknown object"),
        (b'{"x":{"$array":"a","b":1}}', "unknown object"),
        (b'{"x":{"$array":3}}', "unknown object"),
        (b'{"x":{"$dict":3}}', "unknown object"),
        (
            b'{"x":{"$array":"weights/0"},"y":{"$array":"weights/0"},"z":{"$tensor":"weights/1"}}',
            "tensor 'weights/0' is referred to twice",
        ),
        (b'{"x":{"$array":"no such"}}', "unexpected dtype"),
        (b'{"x":{"$array":"weights/0"},"y":{"$array":"weights/1"}}', "unexpected dtype"),
        (b"{", "state.json"),
        (b"\xff\xfe", "state.json"),
    ],
)
def test_a_structure_that_is_none_of_ours_is_damage(structure: bytes, says: str) -> None:
    refused(rebuilt({"state.json": structure}), f"damaged: .*{says}")


def test_a_manifest_that_refers_to_a_tensor_is_damage() -> None:
    head = b'{"format":"rlk","format_version":1,"x":{"$array":"weights/0"}}'
    refused(rebuilt({"manifest.json": head}), "damaged: the manifest refers to a tensor")


def test_a_member_that_claims_more_than_the_file_has_is_refused_before_memory_is_taken() -> None:
    data = bytearray(written(STATE))
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"tensors.safetensors"))
    data[at + 20 : at + 28] = struct.pack("<II", 2**31, 2**31)
    refused(bytes(data), "tensors.safetensors is larger than the file")


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(written(STATE))
    # The flag of encryption, in the local and in the central header of every member.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    refused(bytes(data), "damaged: .*encrypted")
