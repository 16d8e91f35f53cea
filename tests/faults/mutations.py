"""Ways to damage or forge a file of rlk: hypothesis draws them, and bytes are changed.

A `Mutation` is small, so that what hypothesis prints is a case that can be pasted into a test.
"""

from __future__ import annotations

import json
import struct
import zipfile
from typing import Any

import attrs
from hypothesis import strategies as st

from rlk_testing.tools.forged_files import members, packed, places

JSON = ("manifest.json", "state.json")
TENSORS = "tensors.safetensors"
#: A module of this name is in the working folder while files are loaded.
EVIL = "evilmod"
#: Values that replace others; they cover every JSON type.
JUNK: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 1.5, -0.5, 10**30, 2**63, "", "abc", "none", "0"),
    *(f"{EVIL}:Evil-v0", f"{EVIL}:Evil", f"{EVIL}.py", f"./{EVIL}.py:Evil", "../../../etc/passwd"),
    *([], [[]], [None], ["abc"], [1, 2, 3], {}, {"a": 1}, {"id": f"{EVIL}:Evil-v0"}),
    *({"callable": "open"}, {"$float": "nan"}, {"$float": "inf"}, {"$dict": {"$x": 1}}),
    *({"$array": "no such"}, {"$pickle": "gASV"}, {"kind": "same", "as": 5}, {"entry_point": EVIL}),
)
DTYPES = ("U8", "I64", "F16", "F32", "F64", "BF16", "BOOL", "X9")


@attrs.frozen
class Mutation:
    """One way to damage a file.

    Attributes:
        kind: what is done; see `mutated`.
        at: numbers that select the place, each modulo the number of places.
        junk: the value that is put there.
    """

    kind: str
    at: tuple[int, ...] = ()
    junk: Any = None


def mutations() -> st.SearchStrategy[Mutation]:
    """All kinds; wrong types in the JSON are the most frequent."""
    numbers = st.lists(st.integers(0, 10**6), min_size=3, max_size=3).map(tuple)
    types = st.builds(Mutation, st.just("type"), numbers, st.sampled_from(JUNK))
    others = st.builds(
        Mutation,
        st.sampled_from(sorted(KINDS.keys() - {"type"})),
        numbers,
        st.one_of(st.sampled_from(JUNK), st.text(max_size=5), st.integers(), st.floats()),
    )
    return st.one_of(types, types, others)


def mutated(data: bytes, mutation: Mutation) -> bytes:
    """The damaged file."""
    return KINDS[mutation.kind](data, mutation.at, mutation.junk)


# ---- bytes ---------------------------------------------------------------------------------------


def _flipped(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    changed = bytearray(data)
    for number, place in enumerate(at):
        changed[place % len(data)] ^= 1 << (place + number) % 8
    return bytes(changed)


def _cut(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    return data[: at[0] % len(data)]


def _without_a_piece(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    begin = at[0] % len(data)
    return data[:begin] + data[begin + 1 + at[1] % 100 :]


def _with_zeros(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    begin, size = at[0] % len(data), 1 + at[1] % 300
    return data[:begin] + bytes(size) + data[begin + size :]


def _twice(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    begin = at[0] % len(data)
    return data[: begin + 1 + at[1] % 2000] + data[begin:]


# ---- members -------------------------------------------------------------------------------------


def _one_missing(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    found = list(members(data).items())
    del found[at[0] % len(found)]
    return packed(found)


def _one_twice(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    found = list(members(data).items())
    return packed([*found, found[at[0] % len(found)]])


def _swapped(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    found = members(data)
    names = list(found)
    one, other = names[at[0] % len(names)], names[at[1] % len(names)]
    found[one], found[other] = found[other], found[one]
    return packed(list(found.items()))


def _compressed(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    methods = (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    return packed(list(members(data).items()), methods[at[0] % 3])


def _with_a_stranger(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    names = (f"{EVIL}.py", "data.pkl", "__init__.py", "../up.py", "tensors-1.safetensors")
    stranger = (names[at[0] % len(names)], b"\x80\x04x." if at[1] % 2 else b"print('hello')")
    return packed([*members(data).items(), stranger])


# ---- JSON ----------------------------------------------------------------------------------------


def _json_member(at: tuple[int, ...]) -> str:
    return JSON[at[0] % 3 % 2]  # the manifest twice as often


def _with_json(data: bytes, at: tuple[int, ...], change: Any) -> bytes:
    """The file with one place of a JSON member changed: `change(parent, key)`."""
    found, name = members(data), _json_member(at)
    document = {"": json.loads(found[name])}
    found_places = list(places(document))[1:]
    *parents, key = found_places[at[1] % len(found_places)]
    parent: Any = document
    for step in parents:
        parent = parent[step]
    change(parent, key)
    text = json.dumps(document.get(""))
    return packed([(one, text.encode() if one == name else c) for one, c in found.items()])


def _retyped(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    def change(parent: Any, key: Any) -> None:
        kinds = kind_of(parent[key]), kind_of(junk)
        # What is not known yet (whether an episode was a success) may as well be a number.
        if kinds[0] != kinds[1] and kinds != ("NoneType", "number"):
            parent[key] = junk

    return _with_json(data, at, change)


def kind_of(value: Any) -> str:
    """The JSON type of a value; a whole number is a number."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    is_number = is_number or (isinstance(value, dict) and value.keys() == {"$float"})
    return "number" if is_number else type(value).__name__


def _replaced(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    return _with_json(data, at, lambda parent, key: parent.__setitem__(key, junk))


def _removed(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    return _with_json(data, at, lambda parent, key: parent.__delitem__(key))


def _added(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    def change(parent: Any, key: Any) -> None:
        if isinstance(parent[key], dict):
            parent[key][f"x{at[2]}"] = junk
        elif isinstance(parent[key], list):
            parent[key].append(junk)

    return _with_json(data, at, change)


def _repeated(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """A list with its first item repeated many times."""

    def change(parent: Any, key: Any) -> None:
        if isinstance(parent[key], list) and parent[key]:
            parent[key] = parent[key][:1] * (at[2] % 3000) + parent[key]

    return _with_json(data, at, change)


def _nested(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """One value within many lists or objects."""
    depth = (5, 90, 200, 900)[at[2] % 4]

    def change(parent: Any, key: Any) -> None:
        for _ in range(depth):
            parent[key] = [parent[key]] if at[2] % 2 else {"a": parent[key]}

    return _with_json(data, at, change)


def _duplicated_key(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """An object that has a key twice, in a JSON member or in the header of the tensors."""
    found = members(data)
    name = (*JSON, TENSORS)[at[0] % 3]
    content = found[name]
    begin = 8 if name == TENSORS else 0
    objects = [i for i, byte in enumerate(content[:5000]) if byte == ord("{") and i >= begin]
    place = objects[at[1] % len(objects)] + 1
    end = content.find(b'":', place)
    key = content[place : end + 2]
    if not key.startswith(b'"') or key.count(b'"') != 2:
        return data
    changed = content[:place] + key + b"0," + content[place:]
    if name == TENSORS:
        length = struct.unpack("<Q", content[:8])[0] + len(key) + 2
        changed = struct.pack("<Q", length) + changed[8:]
    return packed([(one, changed if one == name else c) for one, c in found.items()])


def _bomb(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """A JSON member that would need more memory than a computer has."""
    units = (b"[],", b"{},", b'"",', b'[[[["', b'{"":', b" ", b'"', b"1e5,", b"\\")
    content = b"[" + units[at[1] % len(units)] * (1 + at[2] * 20)
    found = members(data) | {_json_member(at): content}
    return packed(list(found.items()), zipfile.ZIP_DEFLATED)


# ---- tensors -------------------------------------------------------------------------------------


def _other_head(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """The header of the tensors with one entry changed."""
    found = members(data)
    content = found[TENSORS]
    (length,) = struct.unpack("<Q", content[:8])
    head, rest = json.loads(content[8 : 8 + length]), content[8 + length :]
    name = sorted(head.keys() - {"__metadata__"})[at[0] % len(head.keys() - {"__metadata__"})]
    entry = head[name]
    change = at[1] % 6
    if change == 0:
        entry["dtype"] = DTYPES[at[2] % len(DTYPES)]
    elif change == 1:
        entry["shape"] = [1, *entry["shape"]]
    elif change == 2:
        entry["shape"] = [at[2] * 2**40]
    elif change == 3:
        entry["data_offsets"] = [0, at[2]]
    elif change == 4:
        del head[name]
    else:
        entry[("dtype", "shape", "data_offsets")[at[2] % 3]] = junk
    text = json.dumps(head).encode()
    found[TENSORS] = struct.pack("<Q", len(text)) + text + rest
    return packed(list(found.items()))


def _count(data: bytes, at: tuple[int, ...], junk: Any) -> bytes:
    """A manifest that claims another format, or another number of parts."""
    found = members(data)
    head = json.loads(found[JSON[0]])
    key = ("format_parts", "format_version", "format")[at[0] % 3]
    head[key] = junk if at[1] % 2 else (0, 2, 10**9, -1)[at[2] % 4]
    found[JSON[0]] = json.dumps(head).encode()
    return packed(list(found.items()))


KINDS = {
    "type": _retyped,
    "flip": _flipped,
    "cut": _cut,
    "piece lost": _without_a_piece,
    "zeros": _with_zeros,
    "twice": _twice,
    "member missing": _one_missing,
    "member twice": _one_twice,
    "members swapped": _swapped,
    "members compressed": _compressed,
    "member of a stranger": _with_a_stranger,
    "value": _replaced,
    "key removed": _removed,
    "key added": _added,
    "list longer": _repeated,
    "nested": _nested,
    "key twice": _duplicated_key,
    "bomb": _bomb,
    "head of tensors": _other_head,
    "count": _count,
}
