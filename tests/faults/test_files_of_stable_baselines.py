"""Forged models of Stable Baselines 2.10 and Stable-Baselines3 that unpack to gigabytes."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from faults.watch import watching

from rlk.errors import BadFile
from rlk_import.origin import origin_of

CHUNK = bytes(1 << 20)


def zipped(*entries: tuple[str, bytes | Iterator[bytes]]) -> bytes:
    """A compressed zip of these entries, written in pieces."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, pieces in entries:
            with archive.open(name, "w", force_zip64=True) as entry:
                for piece in [pieces] if isinstance(pieces, bytes) else pieces:
                    entry.write(piece)
    return written.getvalue()


def zeros(megabytes: int) -> Iterator[bytes]:
    return (CHUNK for _ in range(megabytes))


def spaces(megabytes: int) -> Iterator[bytes]:
    return (b" " * len(CHUNK) for _ in range(megabytes))


@pytest.fixture(scope="module")
def weights() -> bytes:
    """A zip whose only entry unpacks to 300 MB."""
    return zipped(("x.npy", zeros(300)))


@pytest.mark.parametrize("others", [("policy.pth",), ("parameters", "parameter_list")])
@pytest.mark.parametrize(
    "data", [lambda: spaces(100), lambda: b"[" + b"[],[]," * 3_000_000], ids=["large", "many"]
)
def test_settings_that_ask_for_gigabytes_are_refused_in_little_memory(
    tmp_path: Path, others: tuple[str, ...], data
) -> None:
    path = tmp_path / "bomb.zip"
    path.write_bytes(zipped(("data", data()), *((name, b"x") for name in others)))
    with watching() as watched, pytest.raises(BadFile, match=r"bomb\.zip is damaged.*at most"):
        origin_of(path)
    assert watched.bytes < 200 << 20


@pytest.mark.parametrize("is_inside", [False, True])
@pytest.mark.parametrize("names", [("policy.pth",), ("parameters", "parameter_list")])
def test_weights_that_unpack_to_gigabytes_are_refused_in_little_memory(
    tmp_path: Path, names: tuple[str, ...], is_inside: bool, weights: bytes
) -> None:
    path, (name, *others) = tmp_path / "bomb.zip", names
    content = weights if is_inside else zeros(300)
    path.write_bytes(zipped(("data", b"{}"), (name, content), *((one, b"x") for one in others)))
    words = rf"its entry '{name}' unpacks to 314,572,800 bytes"
    with watching() as watched, pytest.raises(BadFile, match=words):
        origin_of(path)
    assert watched.bytes < 200 << 20
