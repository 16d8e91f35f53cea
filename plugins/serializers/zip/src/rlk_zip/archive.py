"""The contents of a zip, and checks of it. Whatever is refused is refused before it is read."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO, Any

from safetensors import SafetensorError

from rlk.documents import MAX_JSON_BYTES, parse_json
from rlk.errors import BadFile

MANIFEST, STRUCTURE = "manifest.json", "state.json"

_PART = re.compile(r"tensors(-[1-9]\d*)?\.safetensors")
_PICKLES = (".pkl", ".pickle", ".pt", ".pth")
_IMPORT = "Make one of rlk's of it: rlk import FILE --env ENV --out MODEL.zip (rlk-import)"
#: The exceptions of zipfile, zlib, struct, json and safetensors for a damaged file.
_DAMAGES = (
    zipfile.BadZipFile,
    zlib.error,
    SafetensorError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    MemoryError,
    RuntimeError,  # also NotImplementedError and RecursionError
)


def part_name(number: int) -> str:
    """The name of the member with this part of the tensors: the first has no number."""
    return f"tensors-{number}.safetensors" if number else "tensors.safetensors"


class Archive:
    """An open zip whose members have been checked."""

    def __init__(self, archive: zipfile.ZipFile, name: str, size: int) -> None:
        self.name = name
        self._archive, self._size = archive, size
        infos = archive.infolist()
        self._infos = {info.filename: info for info in infos}
        self._refuse_foreigners()
        self._refuse_unusual_compression()
        self._refuse_pickles()
        if len(self._infos) != len(infos):
            raise BadFile(f"{name} has two members of the same name, so rlk did not write it.")

    def json(self, member: str) -> Any:
        """A member as JSON."""
        info = self._info(member)
        if info.file_size > MAX_JSON_BYTES:
            raise BadFile(
                f"{self.name} is not trusted: {member} would unpack to {info.file_size} bytes "
                f"(at most {MAX_JSON_BYTES})."
            )
        try:
            return parse_json(self._archive.read(info))
        except ValueError as error:
            raise BadFile(f"{self.name} is damaged: {member}: {error}.") from None

    def parts(self, count: int) -> Iterator[bytes]:
        """So many members with tensors, one after the other, complete, with tested checksums."""
        for info in [self._info(part_name(number)) for number in range(count)]:
            if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size:
                raise BadFile(f"{self.name} is not trusted: {info.filename} is compressed.")
            yield self._archive.read(info)

    def _info(self, member: str) -> zipfile.ZipInfo:
        if member not in self._infos:
            raise BadFile(f"{self.name} has no {member}: it is damaged, or no file of rlk's.")
        info = self._infos[member]
        if info.compress_size > self._size:
            raise BadFile(f"{self.name} is damaged: {member} is larger than the file.")
        return info

    def _refuse_foreigners(self) -> None:
        names = self._infos.keys()
        if "_stable_baselines3_version" in names or {"data", "policy.pth"} <= names:
            raise BadFile(
                f"{self.name} is a Stable-Baselines3 model, which holds pickles; nothing of it was "
                f"read. {_IMPORT}; in Python, the class of its model in rlk_sb3 or "
                "rlk_sb3_contrib loads it, such as rlk_sb3.PPO.load(FILE)."
            )
        if {"data", "parameters", "parameter_list"} <= names:
            raise BadFile(
                f"{self.name} is a Stable Baselines 2 model, which holds pickles; nothing of it "
                f"was read. {_IMPORT}; in Python, the class of its model in rlk_baselines loads "
                "it, such as rlk_baselines.PPO2.load(FILE)."
            )

    def _refuse_unusual_compression(self) -> None:
        """Refuse methods other than these two: they allocate memory before anything is unpacked."""
        for name, info in self._infos.items():
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise BadFile(f"{self.name} is not trusted: {name} is compressed in another way.")

    def _refuse_pickles(self) -> None:
        for name, info in self._infos.items():
            if name in (MANIFEST, STRUCTURE) or _PART.fullmatch(name):
                continue
            pickled = name.lower().endswith(_PICKLES)
            if not pickled and info.file_size:
                with self._archive.open(info) as member:
                    pickled = member.read(1) == b"\x80"
            if pickled:
                raise BadFile(
                    f"{self.name} is not trusted: {name} looks like a pickle, which can run any "
                    "code when it is loaded. Nothing of it was read."
                )


@contextlib.contextmanager
def opened(file: IO[bytes]) -> Iterator[Archive]:
    """A file as an archive; any error while it is open means that the file is bad.

    Raises:
        BadFile: with the reason.
    """
    name = str(getattr(file, "name", "the file"))
    try:
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        start = file.read(4)
        if not zipfile.is_zipfile(file):
            raise BadFile(f"{name} {_what_it_is(start)}.")
        file.seek(0)
        with zipfile.ZipFile(file) as archive:
            yield Archive(archive, name, size)
    except _DAMAGES as error:
        raise BadFile(f"{name} is damaged: {error or type(error).__name__}.") from error


def _what_it_is(start: bytes) -> str:
    if not start:
        return "is empty"
    if start == b"PK\x03\x04":
        return "is a zip that has lost its end: it is truncated"
    if start[:1] == b"\x80":
        return "is a pickle, which can run any code when it is loaded; it was not opened"
    return "is not a zip"
