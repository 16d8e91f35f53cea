"""What the zip serializer will not read."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from rlk.errors import BadFile
from rlk_zip import archive as rlk_archive
from rlk_zip import tensors as rlk_tensors
from rlk_zip.serializer import ZipSerializer

STATE = {
    "manifest": {"algo": "dqn"},
    "counters": {"timesteps": 1000, "loss": float("nan")},
    "weights": [np.arange(6, dtype=np.float32).reshape(2, 3), torch.ones(4, dtype=torch.bfloat16)],
}


def written(state: dict[str, Any] = STATE) -> bytes:
    file = io.BytesIO()
    ZipSerializer().write_to(file, state)
    return file.getvalue()


def rebuilt(changes: dict[str, bytes | None], compress: int = zipfile.ZIP_STORED) -> bytes:
    """The file with members replaced, added, or (None) left out."""
    with zipfile.ZipFile(io.BytesIO(written())) as old:
        members: dict[str, Any] = {name: old.read(name) for name in old.namelist()}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compress) as new:
        for name, data in {**members, **changes}.items():
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def tensors(header: Any, data: bytes = b"", length: int | None = None) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def refused(data: bytes, match: str) -> None:
    with pytest.raises(BadFile, match=match):
        ZipSerializer().read_from(io.BytesIO(data))


class Sneaky:
    """Unpickling it would leave a trace."""

    opened = False

    def __reduce__(self) -> Any:
        return (setattr, (Sneaky, "opened", True))


# ---- reading: no zip, or another's ---------------------------------------------------------------


def test_an_empty_file_and_a_text_are_no_zips() -> None:
    refused(b"", "the file is empty")
    refused(b"hello", "the file is not a zip")


def test_a_pickle_is_named_as_what_it_is_and_not_opened() -> None:
    refused(pickle.dumps(Sneaky()), "is a pickle, .* not opened")
    assert not Sneaky.opened


def test_the_message_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model.zip"
    path.write_bytes(b"hello")
    with path.open("rb") as file, pytest.raises(BadFile, match=r"model\.zip is not a zip"):
        ZipSerializer().read_from(file)


def test_a_zip_of_something_else_is_refused() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("readme.txt", "hello")
    refused(out.getvalue(), "has no manifest.json")
    refused(rebuilt({"manifest.json": b'{"format":"other"}'}), "not a file of rlk's")
    refused(rebuilt({"manifest.json": b"[]"}), "not a file of rlk's")


def test_models_of_stable_baselines_are_named_and_never_opened() -> None:
    def model(*names: str) -> bytes:
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as archive:
            for name in names:
                archive.writestr(name, pickle.dumps(Sneaky()))
        return out.getvalue()

    three = ("data", "pytorch_variables.pth", "policy.pth", "_stable_baselines3_version")
    refused(model(*three), r"Stable-Baselines3 model.*rlk import the file")
    refused(model("data", "policy.pth"), "Stable-Baselines3 model")
    refused(model("data", "parameters", "parameter_list"), "Stable Baselines 2 model")
    assert not Sneaky.opened


@pytest.mark.parametrize(
    "name", ["extra.pkl", "a/b.PICKLE", "policy.pth", "weights.pt", "harmless.txt"]
)
@pytest.mark.parametrize("compress", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_pickle_among_the_members_makes_the_whole_file_refused(name: str, compress: int) -> None:
    data = rebuilt({name: pickle.dumps(Sneaky())}, compress)
    refused(data, f"{name} looks like a pickle")
    with pytest.raises(BadFile, match="looks like a pickle"):
        ZipSerializer().manifest_from(io.BytesIO(data))
    assert not Sneaky.opened


def test_a_pickle_in_the_place_of_our_own_members_is_damage() -> None:
    sneaky = pickle.dumps(Sneaky())
    for member in ("manifest.json", "state.json", "tensors.safetensors"):
        refused(rebuilt({member: sneaky}), "damaged")
    assert not Sneaky.opened


def test_a_text_among_the_members_does_no_harm() -> None:
    data = rebuilt({"README.txt": b"my best agent", "empty": b""})
    assert ZipSerializer().read_from(io.BytesIO(data))["counters"]["timesteps"] == 1000


# ---- reading: newer, or damaged ------------------------------------------------------------------


def test_a_newer_format_is_refused_even_if_its_members_have_other_names() -> None:
    newer = b'{"format":"rlk","format_version":2}'
    message = r"written by a newer rlk: format 2, this one reads up to 1; upgrade rlk-zip"
    refused(rebuilt({"manifest.json": newer, "state.json": None}), message)
    with pytest.raises(BadFile, match=message):
        ZipSerializer().manifest_from(io.BytesIO(rebuilt({"manifest.json": newer})))


@pytest.mark.parametrize("version", ["0", "true", '"1"', "null", "1.0"])
def test_a_version_that_is_no_version_is_refused(version: str) -> None:
    head = f'{{"format":"rlk","format_version":{version}}}'.encode()
    refused(rebuilt({"manifest.json": head}), "no format version")


@pytest.mark.parametrize("member", ["manifest.json", "state.json", "tensors.safetensors"])
def test_a_missing_member_is_named(member: str) -> None:
    refused(rebuilt({member: None}), f"has no {member}")


def test_a_file_cut_off_anywhere_is_refused() -> None:
    data = written()
    for end in range(len(data)):
        refused(data[:end], "truncated|not a zip|empty|damaged")


def test_a_file_with_any_byte_changed_is_refused_or_reads_the_same() -> None:
    data, ignored = written(), 0
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


def test_a_changed_tensor_is_found_by_its_checksum() -> None:
    data = bytearray(written({"x": np.full(1000, 7, np.uint8)}))
    data[data.index(bytes([7] * 1000)) + 500] = 8
    refused(bytes(data), "damaged: Bad CRC-32 .*tensors.safetensors")


def test_two_members_of_one_name_are_refused() -> None:
    out = io.BytesIO(written())
    with zipfile.ZipFile(out, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("state.json", "{}")
    refused(out.getvalue(), "two members of one name")


def test_json_that_would_unpack_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rlk_archive, "MAX_JSON_BYTES", 1_000_000)
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


def test_a_tensor_that_is_there_twice_is_refused() -> None:
    one = json.dumps(entry()["x"])
    content = tensors(f'{{"x":{one},"x":{one}}}'.encode(), b"1234")
    data = rebuilt({"state.json": b'{"x":{"$array":"x"}}', "tensors.safetensors": content})
    refused(data, "it has the key 'x' twice")


def test_a_head_of_tensors_that_is_too_large_is_refused() -> None:
    content = tensors({}, length=(16 << 20) + 1)
    refused(rebuilt({"tensors.safetensors": content}), "the head of the tensors has 16777217 bytes")


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_member_that_is_compressed_in_another_way_is_refused(method: int) -> None:
    refused(rebuilt({}, method), "is compressed in another way")


@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_a_list_of_members_without_end_is_refused_before_it_is_read(comment: bytes) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("manifest.json", "{}")
        archive.comment = comment
    data = bytearray(out.getvalue())
    at = data.rindex(b"PK\x05\x06")
    data[at + 12 : at + 16] = struct.pack("<I", 9 << 20)
    refused(bytes(data), "its list of members has 9437184 bytes")


def test_tensors_that_are_compressed_are_refused() -> None:
    refused(rebuilt({}, zipfile.ZIP_DEFLATED), "tensors.safetensors is compressed")


@pytest.mark.parametrize(
    "structure",
    [
        b"[]",
        b"null",
        b'{"$array":"weights/0"}',
        b'{"x":{"$pickle":"gASV"}}',
        b'{"x":{"$float":"1.5"}}',
        b'{"x":{"$array":"a","b":1}}',
        b'{"x":{"$array":3}}',
        b'{"x":{"$dict":3}}',
        b'{"x":{"$array":"weights/0"},"y":{"$array":"weights/0"},"z":{"$tensor":"weights/1"}}',
        b'{"x":{"$array":"no such"}}',
        b'{"x":{"$array":"weights/0"},"y":{"$array":"weights/1"}}',
        b"{",
        b"\xff\xfe",
    ],
)
def test_a_structure_that_is_none_of_ours_is_damage(structure: bytes) -> None:
    refused(rebuilt({"state.json": structure}), "damaged")


def test_a_manifest_that_refers_to_a_tensor_is_damage() -> None:
    head = b'{"format":"rlk","format_version":1,"x":{"$array":"weights/0"}}'
    refused(rebuilt({"manifest.json": head}), "damaged: the manifest refers to a tensor")


def entry(**changes: Any) -> Any:
    return {"x": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4], **changes}}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 7,
        tensors({}, length=2**63),
        tensors({}, length=1000),
        tensors(b"{"),
        tensors([]),
        tensors({}),
        tensors({"x": 3}),
        tensors({"x": {"dtype": "U8"}}),
        tensors(entry(dtype="U9"), b"1234"),
        tensors(entry(dtype=["U8"]), b"1234"),
        tensors(entry(dtype="BF16", shape=[2]), b"1234"),
        tensors(entry(shape=[5]), b"1234"),
        tensors(entry(shape=[-4]), b"1234"),
        tensors(entry(shape=[2.0, 2]), b"1234"),
        tensors(entry(shape="4"), b"1234"),
        tensors(entry(data_offsets=[0]), b"1234"),
        tensors(entry(data_offsets=[1, 5]), b"12345"),
        tensors(entry(data_offsets=[-4, 0]), b"1234"),
        tensors(entry(), b"123"),
        tensors(entry(), b"12345"),
        tensors(entry(shape=[2**40], data_offsets=[0, 2**40]), b"1234"),
        tensors(entry(shape=[1] * 100), b"1"),
        tensors({**entry(), "y": entry()["x"]}, b"1234"),
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
    content = tensors({**entry(), "y": entry(data_offsets=other)["x"]}, data)
    changes = {"state.json": structure, "tensors.safetensors": content}
    refused(rebuilt(changes), "damaged: .*offset for tensor `[xy]`")


def in_parts(monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]) -> bytes:
    """A file with `x`, int16 [1000], in three parts, and members changed or (None) left out."""
    monkeypatch.setattr(rlk_tensors, "PART_BYTES", 800)
    with zipfile.ZipFile(io.BytesIO(written({"x": np.arange(1000, dtype=np.int16)}))) as old:
        members: dict[str, Any] = {name: old.read(name) for name in old.namelist()}
    assert list(members)[2:] == [f"tensors{part}.safetensors" for part in ("", "-1", "-2")]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as new:
        for name, data in {**members, **changes}.items():
            if data is not None:
                new.writestr(name, data)
    return out.getvalue()


def part(name: str, dtype: str, shape: list[int]) -> bytes:
    size = 2 * int(np.prod(shape))
    return tensors({name: {"dtype": dtype, "shape": shape, "data_offsets": [0, size]}}, bytes(size))


def head(count: str) -> bytes:
    return f'{{"format":"rlk","format_version":1,"format_parts":{count}}}'.encode()


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"tensors-1.safetensors": None}, "has no tensors-1.safetensors"),
        ({"tensors-2.safetensors": None}, "has no tensors-2.safetensors"),
        ({"tensors-1.safetensors": part("y", "I16", [4])}, "the tensors do not match: ..y"),
        ({"tensors-1.safetensors": part("x", "U16", [4])}, "do not belong together"),
        ({"tensors-1.safetensors": part("x", "I16", [4, 1])}, "do not belong together"),
        ({"tensors.safetensors": part("x", "I16", [])}, "do not belong together"),
        ({"tensors-1.safetensors": b""}, "damaged"),
        ({"tensors-2.safetensors": pickle.dumps(Sneaky())}, "damaged"),
        ({"manifest.json": head("0")}, "in how many parts"),
        ({"manifest.json": head("true")}, "in how many parts"),
        ({"manifest.json": head("4")}, "has no tensors-3.safetensors"),
        ({"manifest.json": head(str(10**12))}, "has no tensors-3.safetensors"),
    ],
)
def test_parts_that_are_missing_or_do_not_belong_together_are_refused(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], match: str
) -> None:
    refused(in_parts(monkeypatch, changes), match)
    assert not Sneaky.opened


def test_the_parts_as_they_are_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = ZipSerializer().read_from(io.BytesIO(in_parts(monkeypatch, {})))
    np.testing.assert_array_equal(found["x"], np.arange(1000, dtype=np.int16))


def test_a_member_that_claims_more_than_the_file_has_is_refused_before_memory_is_taken() -> None:
    data = bytearray(written())
    at = data.rindex(b"PK\x01\x02", 0, data.rindex(b"tensors.safetensors"))
    data[at + 20 : at + 28] = struct.pack("<II", 2**31, 2**31)
    refused(bytes(data), "tensors.safetensors is larger than the file")


def test_the_same_with_an_honest_header_is_read() -> None:
    structure = b'{"x":{"$array":"x"}}'
    content = tensors({**entry(), "__metadata__": {"by": "hand"}}, b"1234")
    data = rebuilt({"state.json": structure, "tensors.safetensors": content})
    assert ZipSerializer().read_from(io.BytesIO(data))["x"].tolist() == [49, 50, 51, 52]


def test_an_encrypted_member_is_refused() -> None:
    data = bytearray(written())
    # The flag of encryption, in the local and in the central header of every member.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(signature)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(signature, at + 4)
    refused(bytes(data), "damaged: .*encrypted")
