"""The values in an environment's state, as JSON and numpy arrays, and back.

A value comes back with its type, bit for bit: None, numbers, strings, arrays, generators, members
of an Enum, and lists, tuples, deques and dicts of those.
"""

from __future__ import annotations

import bisect
import hashlib
import itertools
import json
from collections import deque
from collections.abc import Mapping
from enum import Enum
from typing import Any

import numpy as np

from rlk.errors import RlkError

#: Classes of Enum by name, whose members may occur in a state.
Enums = Mapping[str, type[Enum]]

_BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
#: Containers within each other. A level takes two in JSON, of which `rlk.documents` allows 100.
_MAX_LEVELS = 35
#: Python writes integers of at most 4,300 decimal digits, which have 14,284 bits or more.
_MAX_BITS = 14_000
#: Longer lists of floats, of integers or of bools are kept as an array, which any file can hold.
_SHORT = 64
#: Larger arrays are neither compared nor hashed; there is a number of its own for each.
_LARGE = 1 << 20
_NUMBERS = itertools.count()
#: Stands for a value that cannot be saved.
UNKNOWN = {"kind": "unknown"}
_DTYPES: dict[type, type] = {float: np.float64, int: np.int64, bool: np.bool_}


class Seen(dict[int, tuple[int, Any]]):
    """The objects that were encoded so far, by id: their numbers, and themselves, so they live."""

    def __init__(self) -> None:
        super().__init__()
        self._places: list[tuple[int, int]] = []  # in memory, of the arrays; sorted

    def is_view(self, array: Any) -> bool:
        """Whether an array may share memory with an earlier one; if not, it counts as earlier."""
        first, end = _place(array)
        at = bisect.bisect(self._places, (first, end))
        if any(first < e and f < end for f, e in self._places[max(0, at - 1) : at + 1]):
            return True
        if first < end:
            self._places.insert(at, (first, end))
        return False


class Unsupported(RlkError):
    """An environment whose state cannot be saved, or a state of another kind of environment."""


def encode(
    value: Any, where: str, seen: Seen, enums: Enums, level: int = 0, *, brief: bool = False
) -> Any:
    """A value as JSON and numpy; an object that occurs twice is restored as one object.

    Args:
        where: the name of the attribute that holds it, for the error.
        seen: the objects of the same state that were encoded before; this one's are added.
        enums: the classes whose members may occur.
        level: the number of containers around the value.
        brief: for `digest` and `texts` alone: arrays are not copied, and large ones left out.

    Raises:
        Unsupported: if it cannot be saved, or no file could hold it.
    """
    kind = type(value)
    if kind in (bool, float, str, type(None)) or _is_short_int(value):
        return value
    if isinstance(value, np.generic) and _is_number(value.dtype):
        return {"kind": "scalar", "value": np.array(value)}
    if isinstance(value, Enum):
        return _encode_member(value, where, enums)
    if id(value) in seen:
        return {"kind": "same", "as": seen[id(value)][0]}
    if kind is np.ndarray and seen.is_view(value):
        raise Unsupported(
            f"{where} is a view of another array of the environment, which a copy would not be."
        )
    if kind is not tuple:  # a tuple cannot be registered before its contents when it is decoded
        seen[id(value)] = len(seen), value
    if kind in (list, tuple, deque, dict) and level < _MAX_LEVELS:
        items: Any = _numbers(value)
        if items is None:
            parts = value.items() if kind is dict else value
            items = [encode(p, where, seen, enums, level + 1, brief=brief) for p in parts]
        return {"kind": kind.__name__, "items": items, "maxlen": getattr(value, "maxlen", None)}
    if kind is np.ndarray and (_is_number(value.dtype) or value.dtype.kind in "SU"):
        return _encode_array(value, brief)
    if kind is np.random.Generator:
        return {"kind": "generator", "state": value.bit_generator.state}
    raise Unsupported(
        f"{where} holds {_described(value, level)}. To save it, give that class get_state() and "
        "set_state(state)."
    )


def decode(node: Any, seen: list[Any], enums: Enums) -> Any:
    """The value that `encode` got.

    Args:
        seen: the objects of the same state that were decoded before; this one's are added.
        enums: the classes of the members that may occur; a file makes no other one.

    Raises:
        Unsupported: for a kind of value, or a member, that is not known.
        LookupError, TypeError, ValueError, AttributeError, ArithmeticError: for a damaged node.
    """
    if not isinstance(node, dict):
        return node
    if (kind := node["kind"]) == "same":
        return seen[node["as"]]
    if kind == "scalar":
        return np.asarray(node["value"])[()]
    if kind == "member":
        return _decode_member(node, enums)
    if kind in ("list", "tuple", "deque", "dict"):
        return _decode_container(node, seen, enums)
    if kind == "array" and np.dtype(node["dtype"]).kind in "biufSU":
        seen.append(np.array(node["value"]).view(node["dtype"]).reshape(node["shape"]))
    elif kind == "generator" and node["state"]["bit_generator"] in _BIT_GENERATORS:
        bits = getattr(np.random, node["state"]["bit_generator"])()
        bits.state = node["state"]
        seen.append(np.random.Generator(bits))
    else:
        raise Unsupported(f"a saved environment state holds {kind!r}: made by a newer version?")
    return seen[-1]


def encoded_alone(value: Any, enums: Enums) -> Any:
    """A value as `encode` has it if nothing else is in the state; UNKNOWN if it cannot be saved."""
    try:
        return encode(value, "", Seen(), enums, brief=True)
    except Unsupported:
        return UNKNOWN


def digest(node: Any) -> str:
    """Equal for the nodes of `encoded_alone` of values of equal type and content.

    With an array of more than a megabyte, it equals no other.
    """
    text = json.dumps(node, default=lambda array: [array.dtype.str, array.shape, _hash(array)])
    return _hash(text.encode())


def texts(node: Any) -> set[str]:
    """All texts in a node, keys of dicts included."""
    if isinstance(node, str):
        return {node}
    kind = node["kind"] if isinstance(node, dict) else None
    if kind in ("list", "tuple", "deque", "dict") and not isinstance(node["items"], np.ndarray):
        return set().union(*(texts(part) for part in node["items"] if type(part) in (str, dict)))
    if kind == "array" and np.dtype(node["dtype"]).kind in "SU":
        found = decode(node, [], {}).ravel().tolist()
        return {part if isinstance(part, str) else part.decode("latin-1") for part in found}
    return set()


def _hash(data: Any) -> str:
    if isinstance(data, np.ndarray):
        data = np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _is_short_int(value: Any) -> bool:
    return type(value) is int and value.bit_length() <= _MAX_BITS


def _is_number(dtype: np.dtype[Any]) -> bool:
    """Whether files hold that dtype; long double is as wide as the machine makes it."""
    return dtype.kind in "biuf" and dtype.itemsize <= 8


def _place(array: Any) -> tuple[int, int]:
    """The addresses of the first byte of an array and of the one after its last."""
    if not array.size:
        return 0, 0
    spans = [
        (length - 1) * stride for length, stride in zip(array.shape, array.strides, strict=True)
    ]
    start = int(array.__array_interface__["data"][0])
    return start + sum(s for s in spans if s < 0), start + sum(
        s for s in spans if s > 0
    ) + array.itemsize


def _encode_array(array: Any, brief: bool) -> dict[str, Any]:
    """Text, and numbers of the other byte order, are kept as bytes."""
    is_plain = array.dtype.kind not in "SU" and array.dtype.isnative
    if brief and is_plain:
        kept = array if array.nbytes <= _LARGE else next(_NUMBERS)
    else:
        kept = array.copy() if is_plain else np.frombuffer(bytearray(array.tobytes()), np.uint8)
    layout = {"dtype": array.dtype.str, "shape": list(array.shape)}
    return {"kind": "array", "value": kept, **layout}


def _encode_member(value: Enum, where: str, enums: Enums) -> dict[str, Any]:
    kind = type(value)
    if enums.get(kind.__qualname__) is not kind or kind.__members__.get(value.name) is not value:
        raise Unsupported(
            f"{where} holds {value!r}, and a new environment would not know its class. Let the "
            "constructor set the attribute to a member of it, or add get_state() and "
            "set_state(state)."
        )
    return {"kind": "member", "class": kind.__qualname__, "name": value.name}


def _decode_member(node: dict[str, Any], enums: Enums) -> Enum:
    kind, name = enums.get(node["class"]), node["name"]
    if kind is None or name not in kind.__members__:
        raise Unsupported(
            f"a saved environment state holds {node['class']}.{name}, which this environment does "
            "not have"
        )
    return kind.__members__[name]


def _decode_container(node: dict[str, Any], seen: list[Any], enums: Enums) -> Any:
    kind, items = node["kind"], node["items"]
    parts = items.tolist() if isinstance(items, np.ndarray) else items
    if kind == "tuple":
        return tuple(decode(part, seen, enums) for part in parts)
    made: Any = {"list": [], "dict": {}, "deque": deque(maxlen=node["maxlen"])}[kind]
    seen.append(made)  # before its contents, in the order of `encode`'s numbers
    (made.update if kind == "dict" else made.extend)(decode(p, seen, enums) for p in parts)
    return made


def _numbers(value: Any) -> Any:
    """A long list (tuple, deque) of numbers of one type as an array; None for any other value."""
    if type(value) is dict or len(value) <= _SHORT or len(kinds := set(map(type, value))) != 1:
        return None
    dtype = _DTYPES.get(kinds.pop())
    try:
        return None if dtype is None else np.array(list(value), dtype)
    except OverflowError:  # an integer of more than 64 bits
        return None


def _described(value: Any, level: int) -> str:
    """What a value that cannot be saved is, with its article."""
    kind = type(value)
    name = f"a {kind.__module__}.{kind.__qualname__}"
    if level >= _MAX_LEVELS:
        return f"{name} within {level} other containers"
    if kind is int:
        return f"an integer of {value.bit_length():,} bits"
    return f"{name} of {value.dtype}" if isinstance(value, np.ndarray | np.generic) else name
