"""A state as JSON: dicts and lists are unchanged, other values become objects with one `$` key.

In the JSON, None, bool, int, finite float, str and list are unchanged. A tuple becomes a list, and
is read back as one. A dict becomes an object, or `{"$dict": {...}}` if one of its own keys begins
with `$`. nan, inf and -inf become `{"$float": "nan"}` and so on. A numpy array, a numpy scalar and
a torch tensor become `{"$array": name}`, `{"$scalar": name}` and `{"$tensor": name}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from rlk_zip.tensors import Kind, is_tensor, refusal

_KINDS: tuple[Kind, ...] = ("array", "scalar", "tensor")


def encode(value: Any, tensors: dict[str, Any] | None, path: str = "") -> Any:
    """The JSON value of a state; arrays and tensors go into `tensors`, named by key path.

    Raises:
        TypeError: for a value that cannot be stored, or a tensor if `tensors` is None; names the
            key path.
    """
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) is float:
        return value if math.isfinite(value) else {"$float": str(value)}
    if isinstance(value, dict):
        return _encode_dict(value, tensors, path)
    if isinstance(value, list | tuple):
        return [encode(item, tensors, f"{path}/{i}") for i, item in enumerate(value)]
    if is_tensor(value) or isinstance(value, np.ndarray | np.generic):
        return {f"${_kind(value)}": _name(value, tensors, path)}
    raise TypeError(
        f"state{path} is of type {type(value).__name__}, which a zip does not hold. It holds None, "
        "bool, int, float, str, lists, dicts, numpy arrays and torch tensors."
    )


def _encode_dict(value: dict[Any, Any], tensors: dict[str, Any] | None, path: str) -> Any:
    for key in value:
        if type(key) is not str:
            raise TypeError(
                f"state{path} has the key {key!r} of type {type(key).__name__}; keys must be str."
            )
    encoded = {key: encode(item, tensors, f"{path}/{key}") for key, item in value.items()}
    return {"$dict": encoded} if any(key.startswith("$") for key in value) else encoded


def _name(value: Any, tensors: dict[str, Any] | None, path: str) -> str:
    """Keep a tensor under its key path; returns its name."""
    reason = refusal(value)
    if tensors is None:
        reason = "is a tensor, and the manifest holds none"
    if reason is not None:
        raise TypeError(f"state{path} {reason}.")
    assert tensors is not None
    name = path.removeprefix("/") or "state"
    while name in tensors or name == "__metadata__":  # keys may contain slashes
        name += "'"
    tensors[name] = value
    return name


def _kind(value: Any) -> Kind:
    if is_tensor(value):
        return "tensor"
    return "array" if isinstance(value, np.ndarray) else "scalar"


def references(encoded: Any) -> dict[str, Kind]:
    """Name -> kind of all tensors that a JSON value refers to.

    Raises:
        ValueError: if it is not a result of `encode`.
    """
    found: dict[str, Kind] = {}

    def note(name: str, kind: Kind) -> None:
        if name in found:
            raise ValueError(f"tensor {name!r} is referred to twice")
        found[name] = kind

    decode(encoded, note)
    return found


def decode(encoded: Any, tensor: Callable[[str, Kind], Any]) -> Any:
    """The state from which `encode` made a JSON value.

    Args:
        encoded: a JSON value.
        tensor: returns the tensor of that name and kind.

    Raises:
        ValueError: if it is not a result of `encode`.
    """
    if isinstance(encoded, list):
        return [decode(item, tensor) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    if not any(key.startswith("$") for key in encoded):
        return {key: decode(item, tensor) for key, item in encoded.items()}
    if len(encoded) == 1:
        ((key, item),) = encoded.items()
        if key == "$dict" and isinstance(item, dict):
            return {name: decode(each, tensor) for name, each in item.items()}
        if key == "$float" and item in ("nan", "inf", "-inf"):
            return float(item)
        if key[1:] in _KINDS and isinstance(item, str):
            return tensor(item, cast(Kind, key[1:]))
    raise ValueError(f"the structure has an unknown object: {sorted(encoded)[:5]}")
