"""Manipulated files: zips of JSON documents with replaced values, or with duplicate names."""

from __future__ import annotations

import copy
import io
import json
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

#: One value of every type that JSON has.
_OTHER: tuple[Any, ...] = (None, True, -1, 0.5, "abc", [[]], {"a": None})


def members(data: bytes) -> dict[str, bytes]:
    """The content of every member of a zip, by name."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(found: list[tuple[str, bytes]], compress: int = zipfile.ZIP_STORED) -> bytes:
    """A zip of these members; several of them may have the same name."""
    out = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(out, "w", compress) as archive:
        warnings.simplefilter("ignore")  # of names that occur twice
        for name, content in found:
            archive.writestr(name, content)
    return out.getvalue()


def places(document: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a JSON document: its keys and list indices."""
    yield path
    if isinstance(document, dict):
        for key, value in document.items():
            yield from places(value, (*path, key))
    elif isinstance(document, list):
        for number, value in enumerate(document):
            yield from places(value, (*path, number))


def with_other_values(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(description, zip) for every way to replace one value in a JSON member."""
    for name, document, put in _documents(data):
        for path in places(document):
            for value in _OTHER:
                yield f"{value!r} at {name} {path}", put(_replaced(document, path, value))


def with_names_twice(data: bytes) -> Iterator[tuple[str, bytes]]:
    """(description, zip) with one member twice, and with one key of a JSON object twice."""
    found = members(data)
    for name, content in found.items():
        yield f"the member {name}", packed([*found.items(), (name, content)])
    for name, document, _ in _documents(data):
        if isinstance(document, dict) and document:
            key = json.dumps(next(iter(document)))
            text = found[name].replace(b"{", f"{{{key}:null,".encode(), 1)
            yield f"the key {key} of {name}", packed(list((found | {name: text}).items()))


def _documents(data: bytes) -> Iterator[tuple[str, Any, Any]]:
    """(name, content, function that returns the zip with another content) of JSON members."""
    found = members(data)
    for name in [name for name in found if name.endswith(".json")]:

        def put(document: Any, name: str = name) -> bytes:
            return packed(list((found | {name: json.dumps(document).encode()}).items()))

        yield name, json.loads(found[name]), put


def _replaced(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    if not path:
        return value
    changed = parent = copy.deepcopy(document)
    for step in path[:-1]:
        parent = parent[step]
    parent[path[-1]] = value
    return changed
