"""JSON, TOML and npz from untrusted sources, whose size is checked before anything is built.

What rlk writes as JSON has no number that JSON does not have (`json_text`).
A file of a megabyte can ask for gigabytes of values (`[[],[],…`, compressed), which are counted in
the text: that takes little memory and time. What is nested deeper than a program can follow is
refused, too.
"""

from __future__ import annotations

import json
import math
import tomllib
import zipfile
import zlib
from collections import Counter
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
_TOO_DEEP = f"it is nested too deep (at most {MAX_DEPTH} levels)"
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


def parse_json(text: str | bytes) -> Any:
    """A JSON document; duplicate keys in an object, NaN and Infinity are refused.

    Raises:
        ValueError: if it is not JSON, too large, or nested too deep.
    """
    data = text.encode() if isinstance(text, str) else text
    check_size(data)
    try:
        # Decoded here: JSON may be UTF-16, in which quotes and brackets are not single bytes.
        found = json.loads(data.decode(), object_pairs_hook=_object, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    check_depth(found)
    return found


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


def check_size(data: bytes) -> None:
    """ValueError for JSON that is too large for `parse_json`; writers of JSON check it, too."""
    if len(data) > MAX_JSON_BYTES:
        raise ValueError(f"it has {len(data):,} bytes (at most {MAX_JSON_BYTES:,})")
    values = 1 + data.count(b",") + data.count(b"[") + data.count(b"{")
    values = max(values, data.count(b'"') // 4)
    if values > MAX_VALUES:
        raise ValueError(f"it has up to {values:,} values (at most {MAX_VALUES:,})")


def check_depth(value: Any) -> None:
    """ValueError for lists and tables nested too deep for `parse_json`; writers check it, too."""
    level = [value]
    for _ in range(MAX_DEPTH):  # without recursion
        inner: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                inner += item.values()
            elif isinstance(item, (list, tuple)):
                inner += item
        level = inner
    if any(isinstance(item, (dict, list, tuple)) for item in level):
        raise ValueError(_TOO_DEEP)


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
    try:
        found = tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    check_depth(found)
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
