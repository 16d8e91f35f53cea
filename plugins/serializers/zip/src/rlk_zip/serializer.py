"""The zip serializer: manifest.json, state.json and safetensors in one zip.

The same state gives the same bytes: members have a fixed order and date, and tensors are sorted.
"""

from __future__ import annotations

import json
import os
import zipfile
from typing import IO, Any

from rlk.documents import check_depth, check_size
from rlk.errors import BadFile
from rlk.protocols import State
from rlk_model_files.serializer import FileSerializer
from rlk_zip import tensors
from rlk_zip.archive import MANIFEST, STRUCTURE, Archive, opened, part_name
from rlk_zip.structure import decode, encode, references

FORMAT, VERSION = "rlk", 1
_RESERVED = ("format", "format_version", "format_parts")


class ZipSerializer(FileSerializer):
    """Writes and reads a State. Reading executes nothing from the file."""

    suffix = ".zip"

    def write_to(self, file: IO[bytes], state: State) -> None:
        """Write a state; the part under `manifest` can be read without the rest.

        Tensors are copied part by part, so that it needs little memory however large they are.

        Raises:
            TypeError: if something cannot be stored; the message has its key path.
            ValueError: if the manifest has a key of the format itself, such as `format_version`, or
                the state has more values than can be read again, or an int of more than 4300
                digits.
        """
        manifest = state.get("manifest", {})
        if not isinstance(manifest, dict):
            raise TypeError(f"state/manifest is a {type(manifest).__name__}; it must be a dict.")
        for key in _RESERVED:
            if key in manifest:
                raise ValueError(f"state/manifest/{key} is written by the zip serializer itself.")
        found: dict[str, Any] = {}
        # The manifest keeps its place among the keys; its content is in its own member.
        body = encode({**state, "manifest": {}} if "manifest" in state else state, found)
        parts = tensors.parts(found)
        head = {"format": FORMAT, "format_version": VERSION}
        head |= {"format_parts": len(parts)} if len(parts) > 1 else {}
        head |= encode(manifest, None, "/manifest")
        with zipfile.ZipFile(file, "w") as archive:
            _write_json(archive, MANIFEST, head)
            _write_json(archive, STRUCTURE, body)
            for number, part in enumerate(parts):
                archive.writestr(_info(part_name(number)), tensors.pack(part))

    def read_from(self, file: IO[bytes]) -> State:
        """The state that was written; tuples become lists, tensors are on the CPU.

        Arrays larger than a part are mapped files, so that reading needs little memory.

        Raises:
            BadFile: if it is no such file, is damaged, is newer than this serializer, or holds a
                pickle.
            RlkError: if the folder has no room for the mapped files.
        """
        with opened(file) as archive:
            manifest, count = _manifest(archive)
            body = archive.json(STRUCTURE)
            found = tensors.unpack(archive.parts(count), references(body), _folder_of(file))
            state = decode(body, lambda name, kind: found[name])
            if not isinstance(state, dict):
                raise ValueError(f"{STRUCTURE} is not an object")
            if "manifest" in state:
                state["manifest"] = manifest
            return state

    def manifest_from(self, file: IO[bytes]) -> State:
        """The part under `manifest`; the rest is not read.

        Raises:
            BadFile: as in `read_from`, as far as it shows without reading the rest.
        """
        with opened(file) as archive:
            return _manifest(archive)[0]


def _manifest(archive: Archive) -> tuple[State, int]:
    """The manifest, and the number of parts with tensors."""
    name = archive.name
    head = archive.json(MANIFEST)
    if not isinstance(head, dict) or head.pop("format", None) != FORMAT:
        raise BadFile(f"{name} is a zip, but not a file of rlk's.")
    version = head.pop("format_version", None)
    if type(version) is not int or version < 1:
        raise BadFile(f"{name} has no format version; it is damaged.")
    if version > VERSION:
        raise BadFile(
            f"{name} was written by a newer rlk: format {version}, this one reads up to {VERSION}; "
            "upgrade rlk-zip."
        )
    count = head.pop("format_parts", 1)
    if type(count) is not int or count < 1:
        raise BadFile(f"{name} does not say in how many parts its tensors are; it is damaged.")
    return decode(head, _no_tensor), count


def _folder_of(file: IO[bytes]) -> str | None:
    """The folder of a file, whose disk had room for the file; None for a nameless file."""
    name = getattr(file, "name", None)
    return os.path.dirname(os.path.abspath(name)) if isinstance(name, str) else None


def _no_tensor(name: str, kind: str) -> Any:
    raise ValueError(f"the manifest refers to a tensor, {name!r}")


def _write_json(archive: zipfile.ZipFile, name: str, value: Any) -> None:
    try:
        check_depth(value)
        text = json.dumps(value, allow_nan=False, separators=(",", ":"))
        check_size(text.encode())
    except ValueError as error:
        raise ValueError(f"the state cannot be kept in a zip: {name}: {error}") from None
    archive.writestr(_info(name), text, zipfile.ZIP_DEFLATED, compresslevel=6)


def _info(name: str) -> zipfile.ZipInfo:
    """A zip member entry that does not depend on the time, the user or the system."""
    info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    info.create_system = 3
    info.external_attr = 0o644 << 16
    return info
