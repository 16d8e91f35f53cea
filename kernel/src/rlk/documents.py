"""JSON, TOML and npz from untrusted sources, whose size is checked before anything is built.

What rlk writes as JSON has no number that JSON does not have (`json_text`).
A file of a megabyte can ask for gigabytes of values (`[[],[],…`, compressed), or be nested deeper
than a program can follow. Both are counted in the text, which takes little memory and time.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path
from typing import Any

from rlk.errors import BadFile

#: Lists and objects within each other, and parts of a dotted key.
MAX_DEPTH = 100
#: A checkpoint of a thousand environments has about fifty thousand values.
MAX_VALUES = 1_000_000
MAX_JSON_BYTES = 64 << 20
MAX_TOML_CHARACTERS = 256 << 10
MAX_NPZ_BYTES = 256 << 20  #: of a compressed file when it is unpacked

#: A string without an end runs to the end of the text, which is then not JSON either.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_STEPS = {ord(bracket): 1 if bracket in "[{" else -1 for bracket in "[]{}"}
#: What zipfile, zlib and numpy raise for a damaged file.
_NPZ_DAMAGES = (
    OSError,
    ValueError,
    KeyError,
    TypeError,
    EOFError,
    MemoryError,
    RuntimeError,
    zipfile.BadZipFile,
    zlib.error,
)
_KEY = r"""(?:[\w-]++|"(?:[^"\\\n]++|\\.)*+"?|'[^'\n]*+'?)"""
_DOTTED = re.compile(rf"{_KEY}(?:[ \t]*+\.[ \t]*+{_KEY})*+")


def parse_json(text: str | bytes) -> Any:
    """A JSON document; duplicate keys in an object, NaN and Infinity are refused.

    Raises:
        ValueError: if it is not JSON, too large, or nested too deep.
    """
    data = text.encode() if isinstance(text, str) else text
    check_json(data)
    # Decoded here: JSON may be UTF-16, in which quotes and brackets are not single bytes.
    return json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_no_constant)


def json_text(value: Any, indent: int | None = None) -> str:
    """A value as JSON, which has no infinity or NaN: they are the texts "inf", "-inf" and "nan".

    Args:
        value: JSON values and such numbers.
        indent: as in `json.dumps`.
    """
    return json.dumps(with_words(value), indent=indent, allow_nan=False)


def with_words(value: Any) -> Any:
    """JSON values with a text, as in `json_text`, for every number that JSON does not have."""
    if isinstance(value, dict):
        return {key: with_words(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [with_words(one) for one in value]
    is_json = not isinstance(value, float) or math.isfinite(value)
    return value if is_json else str(value)


def check_json(data: bytes) -> None:
    """ValueError for JSON that `parse_json` would refuse; writers of JSON check it, too."""
    if len(data) > MAX_JSON_BYTES:
        raise ValueError(f"it has {len(data):,} bytes (at most {MAX_JSON_BYTES:,})")
    values = 1 + data.count(b",") + data.count(b"[") + data.count(b"{")
    values = max(values, data.count(b'"') // 4)
    if values > MAX_VALUES:
        raise ValueError(f"it has up to {values:,} values (at most {MAX_VALUES:,})")
    brackets = _STRING.sub(b"", data).translate(None, _NO_BRACKETS)
    depth = max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)
    if depth > MAX_DEPTH:
        raise ValueError(f"it is nested {depth:,} levels deep (at most {MAX_DEPTH})")


def read_json(path: Path) -> Any:
    """The document in a JSON file.

    Raises:
        BadFile: if `parse_json` refuses it, or it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return parse_json(file.read(MAX_JSON_BYTES + 1))
    except OSError as error:
        raise BadFile(f"cannot read {path}: {error.strerror}.") from None
    except ValueError as error:
        raise BadFile(f"{path} is damaged: {error}.") from None


def parse_toml(text: str) -> dict[str, Any]:
    """A TOML document.

    Raises:
        ValueError: if it is not TOML, too large, or nested too deep.
    """
    if len(text) > MAX_TOML_CHARACTERS:
        raise ValueError(f"it has {len(text):,} characters (at most {MAX_TOML_CHARACTERS:,})")
    too_deep = f"it is nested too deep (at most {MAX_DEPTH} levels)"
    # Each part of a dotted key takes as much time as all parts before it.
    if any(match[0].count(".") >= MAX_DEPTH for match in _DOTTED.finditer(text)):
        raise ValueError(too_deep)
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ValueError(too_deep) from None
    if _is_deeper([found], MAX_DEPTH):
        raise ValueError(too_deep)
    return found


def read_npz(path: Path) -> dict[str, Any]:
    """The arrays of a file that `numpy.savez` wrote; object arrays, which are pickles, are refused.

    A file that is not compressed may have any size: it unpacks to no more than it takes on disk.

    Raises:
        BadFile: if it cannot be read, is not such a file, or is too large.
    """
    import numpy as np  # not at the top: the command line starts without it

    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(info.file_size for info in archive.infolist())
        if size > max(MAX_NPZ_BYTES, path.stat().st_size):
            raise BadFile(
                f"{path} is too large: it would unpack to {size:,} bytes, and a compressed file "
                f"may to {MAX_NPZ_BYTES:,}. If you trust it, write it anew with numpy.savez, which "
                "does not compress."
            )
        with np.load(path, allow_pickle=False) as file:
            found = dict(file)
        strange = [name for name, value in found.items() if not isinstance(value, np.ndarray)]
        if strange:
            raise ValueError(f"its member {strange[0]!r} is not an array")
        return found
    except _NPZ_DAMAGES as error:
        raise BadFile(f"{path} is damaged: {error or type(error).__name__}.") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"it has the key {key!r} twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _is_deeper(level: Iterable[Any], limit: int) -> bool:
    """Whether lists and tables are nested deeper than so many levels; without recursion."""
    for _ in range(limit):
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, list):
                inner += item
        level = inner
    return any(isinstance(item, dict | list) for item in level)
