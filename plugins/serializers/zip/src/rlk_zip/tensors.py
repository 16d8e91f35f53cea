"""Arrays and tensors as parts, each of which is a small safetensors file, written by that library.

A part holds at most `PART_BYTES`, so that a replay that is larger than memory can be written and
read. A larger array is cut along its first axis, and continues under the same name in the next
parts; when it is read, it is assembled in a file (`mapped.py`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

import numpy as np

from rlk.documents import parse_json
from rlk_zip.mapped import MappedRows

#: The kind of a tensor when it was written, and again when it is read.
Kind = Literal["array", "scalar", "tensor"]

#: Memory blocks of this size are returned to the system as soon as they are freed.
PART_BYTES = 64 << 20
#: A hundred thousand tensors in one part have some ten million bytes of names, types and shapes.
_HEADER_BYTES = 16 << 20
_DTYPES = {
    *("bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64", "complex64"),
}
_ONLY_TORCH = {"bfloat16", "float8_e4m3fn", "float8_e5m2"}


def is_tensor(value: object) -> bool:
    """Whether it is a torch tensor; torch is not imported to find out."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def refusal(value: Any) -> str | None:
    """Why this array, numpy scalar or tensor cannot be stored; None if it can."""
    if is_tensor(value):
        if value.layout != sys.modules["torch"].strided or value.is_meta or value.is_quantized:
            return "is a sparse, quantised or meta tensor; make it a dense one"
        known = str(value.dtype).removeprefix("torch.") in _DTYPES | _ONLY_TORCH
        return None if known else f"is a tensor of {value.dtype}, which safetensors does not have"
    if value.dtype.names is not None:
        return f"is a structured array ({value.dtype}); store a view of it as uint8"
    masked = sys.modules.get("numpy.ma")  # numpy imports it when it is first named
    if masked is not None and isinstance(value, masked.MaskedArray):
        return "is a masked array; store its data and its mask"
    if value.dtype.name not in _DTYPES:
        return f"is of the numpy dtype {value.dtype}, which safetensors does not have"
    return None


def parts(tensors: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The contents of each part, as views: whole tensors, and one piece of a large one.

    There is at least one part; the result does not depend on the order of the tensors.
    """
    found: list[dict[str, Any]] = [{}]
    room = PART_BYTES
    for name, tensor in sorted(tensors.items()):
        for piece in _pieces(tensor):
            size = _bytes(piece)
            if size > room and found[-1]:
                found.append({})
                room = PART_BYTES
            found[-1][name] = piece
            room -= size
    return found


def _pieces(tensor: Any) -> Iterator[Any]:
    """The tensor, or slices of it along the first axis if it is too large for one part."""
    if _bytes(tensor) <= PART_BYTES or not tensor.shape:
        yield tensor
        return
    rows = max(1, PART_BYTES * len(tensor) // _bytes(tensor))
    for begin in range(0, len(tensor), rows):
        yield tensor[begin : begin + rows]


def _bytes(tensor: Any) -> int:
    return math.prod(tensor.shape) * tensor.dtype.itemsize


def pack(part: Mapping[str, Any]) -> bytes:
    """A part as the bytes of a safetensors file; its tensors are copied, contiguous, on the CPU."""
    if not any(map(is_tensor, part.values())):
        from safetensors.numpy import save

        return save({name: _dense(array) for name, array in part.items()})
    import safetensors.torch as library
    import torch

    # A copy, because the library refuses tensors that share memory, and reads the memory of a
    # conjugate or negative view as it is.
    return library.save(
        {
            name: value.detach().cpu().contiguous().clone()
            if is_tensor(value)
            else torch.from_numpy(_dense(value).copy())
            for name, value in part.items()
        }
    )


def _dense(array: Any) -> Any:
    """In C order, little-endian; unlike with `ascontiguousarray`, a scalar keeps the shape ()."""
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def unpack(
    files: Iterable[bytes], kinds: Mapping[str, Kind], folder: str | None = None
) -> dict[str, Any]:
    """All tensors in these parts, each as the kind that it was.

    Args:
        files: the parts, one after the other; at most one is in memory at a time.
        kinds: by name.
        folder: where arrays of several pieces are assembled.

    Raises:
        ValueError: if they do not contain exactly these names, or the tensors are invalid.
        safetensors.SafetensorError: if one is not a safetensors file.
        RlkError: if there is not enough room in the folder.
    """
    whole: dict[str, Any] = {}
    joined: dict[str, MappedRows] = {}
    for data in files:
        for name, tensor in _load(data, "tensor" in kinds.values()).items():
            if name not in whole:
                whole[name] = tensor
                continue
            if name not in joined:
                joined[name] = MappedRows(whole[name], folder)
                whole[name] = None  # it is in the mapped file now
            joined[name].append(tensor)
    if whole.keys() != kinds.keys():
        raise ValueError(f"the tensors do not match: {sorted(whole.keys() ^ kinds.keys())[:5]}")
    whole |= {name: rows.whole() for name, rows in joined.items()}
    return {name: _as_kind(whole[name], kind) for name, kind in kinds.items()}


def _load(data: bytes, by_torch: bool) -> dict[str, Any]:
    _check_header(data)
    load: Any
    if by_torch:
        from safetensors.torch import load
    else:
        from safetensors.numpy import load
    try:
        found: dict[str, Any] = load(data)
    except KeyError as error:
        raise ValueError(f"a tensor has the unexpected dtype {error}") from None
    return found


def _check_header(data: bytes) -> None:
    """ValueError for a safetensors header that is too large, or contains a name twice.

    The library would build what the header describes, and keep the last tensor of that name.
    """
    length = int.from_bytes(data[:8], "little")
    if length > _HEADER_BYTES:
        raise ValueError(f"the head of the tensors has {length} bytes (at most {_HEADER_BYTES})")
    parse_json(data[8 : 8 + length])


def _as_kind(found: Any, kind: Kind) -> Any:
    if kind == "tensor":
        return found
    try:
        array = found.numpy() if is_tensor(found) else found
    except TypeError:
        raise ValueError(f"an array has the dtype {found.dtype}, which only torch has") from None
    return array[()] if kind == "scalar" else array
