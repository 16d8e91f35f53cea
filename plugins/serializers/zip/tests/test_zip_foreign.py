"""Files of other programs or newer versions are not read."""

from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path

import pytest
from forged_zips import Sneaky, rebuilt, refused

from rlk.errors import BadFile
from rlk_zip.serializer import ZipSerializer


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
    refused(model(*three), r"Stable-Baselines3 model.*rlk_sb3 or rlk_sb3_contrib loads it")
    refused(model("data", "policy.pth"), "Stable-Baselines3 model")
    refused(
        model("data", "parameters", "parameter_list"),
        r"Stable Baselines 2 model.*rlk_baselines loads it",
    )
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


@pytest.mark.parametrize("name", ["extra.pkl", "a/b.PICKLE", "policy.pth", "weights.pt"])
def test_a_member_with_the_name_of_a_pickle_is_refused_whatever_it_begins_with(name: str) -> None:
    refused(rebuilt({name: pickle.dumps([1, 2], protocol=0)}), f"{name} looks like a pickle")


def test_a_pickle_in_the_place_of_our_own_members_is_damage() -> None:
    sneaky = pickle.dumps(Sneaky())
    for member in ("manifest.json", "state.json", "tensors.safetensors"):
        refused(rebuilt({member: sneaky}), "damaged")
    assert not Sneaky.opened


def test_a_text_among_the_members_does_no_harm() -> None:
    data = rebuilt({"README.txt": b"my best agent", "empty": b""})
    assert ZipSerializer().read_from(io.BytesIO(data))["counters"]["timesteps"] == 1000


def test_a_foreign_member_is_not_unpacked() -> None:
    text = bytes(range(256)) * 40
    data = bytearray(rebuilt({"README.txt": text}))
    data[data.index(text) + 9000] ^= 1  # its checksum would not match
    assert ZipSerializer().read_from(io.BytesIO(data))["counters"]["timesteps"] == 1000


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
