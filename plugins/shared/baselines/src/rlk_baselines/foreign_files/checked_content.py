"""Checks what is in a file of Stable Baselines 2.10 or 3, which may be damaged or forged.

A file of a megabyte may hold entries that unpack to gigabytes, and JSON that asks for as many
values: sizes are compared with bounds before anything is unpacked or built.
"""

from __future__ import annotations

import contextlib
import io
import json
import operator
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rlk.documents import MAX_JSON_BYTES, MAX_NPZ_BYTES, check_depth, check_size
from rlk.errors import BadFile, RlkError
from rlk.records import Array

#: Environments of a model, whose spaces are made when it is loaded.
MAX_N_ENVS = 65_536


@contextlib.contextmanager
def refusing_damage(path: Path) -> Iterator[None]:
    """Raise BadFile for the file, whatever error its content causes inside.

    Errors of rlk's and warnings are not changed.
    """
    try:
        yield
    except (RlkError, Warning):
        raise
    except Exception as error:  # damaged content may raise anything
        why = str(error).rstrip(".")
        raise BadFile(f"{path} is damaged: {type(error).__name__}: {why}.") from error


def entries_of(path: Path) -> set[str]:
    """The names of the entries of a zip; none for any other file."""
    if not zipfile.is_zipfile(path):
        return set()
    try:
        with zipfile.ZipFile(path) as archive:
            return {*archive.namelist()}
    except (zipfile.BadZipFile, NotImplementedError, ValueError):  # its table of entries is damaged
        return set()


def settings_in(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The JSON object in the entry `data`.

    Raises:
        ValueError: if it is something else, too large, or nested too deep.
    """
    data = _unpacked(archive, "data", MAX_JSON_BYTES)
    check_size(data)
    found = json.loads(data.decode())  # in UTF-16, check_size would miss values
    check_depth(found)
    if not isinstance(found, dict):
        raise ValueError(f"its settings are a {type(found).__name__}, not a dict")
    return found


def weights_in(archive: zipfile.ZipFile, name: str) -> io.BytesIO:
    """The entry with weights, a zip of numpy's or torch's own.

    Entries that are not compressed may have any size: they unpack to no more than they take.

    Raises:
        ValueError: if it, or an entry inside, would unpack to too much.
    """
    limit = max(MAX_NPZ_BYTES, Path(str(archive.filename)).stat().st_size)
    packed = io.BytesIO(_unpacked(archive, name, limit))
    if zipfile.is_zipfile(packed):
        with zipfile.ZipFile(packed) as inner:
            _refuse_above(limit, sum(one.file_size for one in inner.infolist()), name)
    packed.seek(0)
    return packed


def _unpacked(archive: zipfile.ZipFile, name: str, limit: int) -> bytes:
    info = archive.getinfo(name)
    _refuse_above(limit, info.file_size, name)
    return archive.read(info)


def _refuse_above(limit: int, size: int, name: str) -> None:
    if size > limit:
        raise ValueError(f"its entry {name!r} unpacks to {size:,} bytes (at most {limit:,})")


def checked_arrays(found: Mapping[Any, Any]) -> dict[str, Array]:
    """Parameters by their names.

    Raises:
        ValueError: if a name is no text, or a value no array of real numbers.
    """
    parameters = {}
    for name, value in found.items():
        if not isinstance(name, str):
            raise ValueError(f"the name of a parameter is {name!r:.60}, not a text")
        is_array = isinstance(value, (np.ndarray, np.generic))
        if not is_array or value.dtype.kind not in "fiub":
            kind = value.dtype if is_array else type(value).__name__
            raise ValueError(f"its parameter {name!r:.60} is {kind}, not an array of numbers")
        parameters[name] = np.asarray(value)
    return parameters


def checked_keywords(value: Any, name: str = "policy_kwargs") -> dict[str, Any]:
    """Keyword arguments, and those among them; None stands for none.

    Raises:
        ValueError: if they are no dict with names as keys.
    """
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise ValueError(f"its {name} are {value!r:.60}, not a dict of keyword arguments")
    inner = {key: checked_keywords(value[key], key) for key in value if key.endswith("_kwargs")}
    return {**value, **inner}


def checked_count(value: Any, name: str, least: int, most: int = sys.maxsize) -> int:
    """A whole number.

    Raises:
        ValueError: if it is anything else, less than `least`, or more than `most`.
    """
    is_whole = hasattr(value, "__index__") and not isinstance(value, bool)
    if not (is_whole and least <= value <= most):
        raise ValueError(f"its {name} is {value!r:.60}, not a whole number of {least} to {most}")
    return operator.index(value)


def checked_n_envs(value: Any) -> int:
    """The number of environments, which is 1 for a model that never had any; raises likewise."""
    return checked_count(1 if value is None else value, "n_envs", 1, MAX_N_ENVS)
